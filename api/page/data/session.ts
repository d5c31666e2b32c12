import type { Claims } from './rights.ts'
import { keep, kept } from './storage.ts'
import { createStore } from './store.ts'

const key = 'portage-token'

export interface Session {
  readonly token: string
  readonly claims: Claims
}

/** Of this tab, until it is closed. */
export const session = createStore<Session | undefined>(stored())

function stored(): Session | undefined {
  const token = kept('session', key)
  const claims = claimsOf(token)
  return claims && { token, claims }
}

/** False: the text is malformed. */
export function signIn(text: string): boolean {
  const token = text.trim()
  const claims = claimsOf(token)
  if (!claims) return false
  keep('session', key, token)
  session.set({ token, claims })
  return true
}

export function signOut(): void {
  keep('session', key, '')
  session.set(undefined)
}

function claimsOf(token: string): Claims | undefined {
  const [, body, ...more] = token.split('.')
  if (!body || more.length !== 1) return undefined
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    const { sub, level, exp, chains, lanes } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    if (typeof sub !== 'string' || typeof level !== 'string' || typeof exp !== 'number') return undefined
    return { name: sub, level, expiresAt: exp * 1_000, ...textsOf('chains', chains), ...textsOf('lanes', lanes) }
  } catch {
    return undefined
  }
}

function textsOf(name: string, value: unknown): Record<string, string[]> {
  return Array.isArray(value) ? { [name]: value.map(String) } : {}
}
