/** Removes secrets of a node URL (credentials, path, query values), raw or decoded. Hosts stay. */
export function createRedactor(url: URL): (text: string) => string {
  const parts = [
    url.href,
    decode(url.password),
    url.password,
    decode(url.username),
    url.username,
    url.pathname + url.search,
    url.pathname,
    url.search,
    ...url.pathname.split('/').flatMap((segment) => (segment.length >= 8 ? [segment, decode(segment)] : [])),
    ...url.search.split(/[?&=]/),
    ...url.searchParams.values(),
  ]
  // Short parts (`/`, `v3`) are words, not secrets.
  const secrets = [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
