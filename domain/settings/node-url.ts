const variable = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g
/** In place of a variable during the checks: a private-use character, which no URL has. */
const hole = '\uE000'

/** Scheme, user info, host with port, path, query with fragment. */
const parts = /^(https?):\/\/(?:([^/?#@]*)@)?([^/?#@]+)([^?#]*)(.*)$/i

/**
 * Refuses a node's URL with a secret, which would enter the history: secrets are variables (`${NODE_URL}`).
 * Throws Error that starts with `path` and never shows the URL.
 */
export function assertNodeUrl(url: unknown, path: string): void {
  const fail = (why: string) => {
    throw new Error(`${path}: ${why}; put the URL, or its secret, into a variable of the workers' environment: \${VARIABLE}`)
  }
  if (typeof url !== 'string' || url.length === 0 || url.length > 300) return fail('must be a URL of at most 300 characters')
  if (url.includes(hole)) return fail('holds a character that no URL has')
  const text = url.replace(variable, hole)
  if (text === hole) return
  if (/[\s$<>"'\\]/.test(text)) return fail('holds a character that no URL has, or a ${…} that is not the name of a variable')
  const found = parts.exec(text)
  if (!found) return fail('must start with http:// or https:// and a host, or be a variable')
  const [, , user, , place = '', rest = ''] = found
  if (user !== undefined && !user.split(':').every((part) => part === hole)) return fail('must not hold a user name or a password')
  const literal = !text.includes(hole)
  if (place !== '' && place !== '/' && (literal || !place.split('/').every(harmless))) return fail('must not hold a path')
  if (rest !== '' && (literal || !/^\?[a-z_-]{1,20}=\uE000(&[a-z_-]{1,20}=\uE000)*$/i.test(rest))) return fail('must not hold a query')
}

/** Whether a path segment is too short to be a key, which has at least 16 characters. */
function harmless(segment: string): boolean {
  return segment === hole || /^[a-z0-9]{0,8}$/i.test(segment)
}
