const hidden = '[redacted]'

/** Maximum length of a text. Strangers can choose some texts (paths, answers of servers), so longer texts are cut. */
const longestText = 32_768

const urlPattern = /\b(?:https?|wss?):\/\/[^\s"'`<>\\]+/gi
const punctuation = new Set(').,;:]}')

const assignmentPattern =
  /\b((?:private|secret)[-_ ]?key|secret|mnemonic|pass(?:word|phrase)|api[-_ ]?key|(?:access|auth|api)[-_ ]?token)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;)}]+/gi

/**
 * Credentials, or any scheme with credentials or parameters (`Digest username="a", response="b"`). Hides one word too
 * many after credentials without a scheme.
 */
const authorizationPattern =
  /\b(authorization)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+[^\s"',;)}]+|[^\s"',;)}]+(?:[ \t]+(?:[\w-]+=(?:\\?"[^"\n]*"|[^\s"',;)}]+)(?:,[ \t]*[\w-]+=(?:\\?"[^"\n]*"|[^\s"',;)}]+))*|[^\s"',;)}]+))?)/gi

const bearerPattern = /\bbearer\s+[\w.~+/=-]+/gi
/** Candidates for Basic credentials. They are removed only if they decode to a text with a colon (`user:password`). */
const basicPattern = /\bbasic\s+([\w+/-]+=*)/gi

/** Names of secret fields, except names that say where a secret is (`whereaboutsName`). */
const secretName = /pass(word|phrase)|secret|mnemonic|private|credential|authorization|api[-_]?key|bearer|cookie/i
const whereaboutsName = /(file|variable|path)$/i
/** Fields that are secret if their value looks like a private key. In other fields, such values are hashes. */
const keyName = /key|seed|signer/i
const keyLike = /^(0x)?[0-9a-f]{64}$/i

/** `https://user:pass@node.example/v3/key?x=1` → `https://node.example`. A text that is not a URL becomes `[url]`. */
export function redactUrl(url: string): string {
  try {
    const { protocol, host } = new URL(url)
    return `${protocol}//${host}`
  } catch {
    return '[url]'
  }
}

/** Reduces URLs to their origin and removes secrets, in linear time. Cuts the text after 32,768 characters. */
export function redactText(text: string): string {
  if (text.length > longestText) return `${redactText(text.slice(0, longestText))}… [${text.length - longestText} characters cut]`
  return text
    .replace(urlPattern, (url) => {
      const end = endOfUrl(url)
      return redactUrl(url.slice(0, end)) + url.slice(end)
    })
    .replace(authorizationPattern, `$1$2${hidden}`)
    .replace(assignmentPattern, `$1$2${hidden}`)
    .replace(bearerPattern, `bearer ${hidden}`)
    .replace(basicPattern, (text, value: string) => (Buffer.from(value, 'base64').includes(':') ? `basic ${hidden}` : text))
}

/** Length of a URL without the punctuation at its end. A pattern such as `/[).]+$/` would take quadratic time. */
function endOfUrl(url: string): number {
  let end = url.length
  while (end > 0 && punctuation.has(url.charAt(end - 1))) end -= 1
  return end
}

export function redactFields(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redactValue(name, value, depth)]))
}

function redactValue(name: string, value: unknown, depth: number): unknown {
  if (value === undefined || value === null) return value
  if (isSecret(name, value)) return hidden
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return typeof value === 'function' || typeof value === 'symbol' ? `[${typeof value}]` : value
  // Deeper structures are a library's (requests, sockets). Portage's own fields have at most four levels.
  if (depth >= 4) return '[deep]'
  if (value instanceof Error) return describeError(value, depth)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof URL) return redactUrl(value.href)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.map((item) => redactValue(name, item, depth + 1))
  if (value instanceof Map) return redactFields(Object.fromEntries(value) as Record<string, unknown>, depth + 1)
  if (value instanceof Set) return redactValue(name, [...value], depth)
  return redactFields(value as Record<string, unknown>, depth + 1)
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const { code, facts, cause } = error as { code?: unknown; facts?: unknown; cause?: unknown }
  return {
    name: error.name,
    ...(code === undefined ? {} : { code: redactValue('code', code, depth + 1) }),
    message: redactText(error.message),
    ...(facts === undefined ? {} : { facts: redactValue('facts', facts, depth + 1) }),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(cause === undefined ? {} : { cause: redactValue('cause', cause, depth + 1) }),
  }
}

function isSecret(name: string, value: unknown): boolean {
  if (whereaboutsName.test(name)) return false
  if (secretName.test(name)) return typeof value !== 'boolean'
  return keyName.test(name) && typeof value === 'string' && keyLike.test(value)
}
