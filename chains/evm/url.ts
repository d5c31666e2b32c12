/** A URL without its user info, which `fetch` refuses and which becomes HTTP basic authentication. `origin` (scheme, host, port) is all that may be shown of it. */
export function splitCredentials(url: string): { readonly target: URL; readonly headers: Record<string, string>; readonly origin: string } {
  const target = new URL(url)
  const { username, password, origin } = target
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const headers: Record<string, string> =
    username || password ? { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } : {}
  target.username = target.password = ''
  return { target, headers, origin }
}
