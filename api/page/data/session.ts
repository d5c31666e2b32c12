import { type AccessLevel, type Principal, reaches } from '../../../domain/access.ts'
import { transferOrderLevel } from '../../../operations/orders/transfer-text.ts'
import { createStore, keep, kept } from './store.ts'

const key = 'portage-token'

/** Unverified claims of the token, only for warnings. The server checks the token. */
export interface Claims extends Pick<Principal, 'name' | 'expiresAt' | 'chains'> {
  readonly level: string
}

interface Session {
  readonly token: string
  readonly claims: Claims
}

export const session = createStore(sessionOf(kept('sessionStorage', key)))

export function signIn(text: string): boolean {
  const found = sessionOf(text.trim())
  if (!found) return false
  keep('sessionStorage', key, found.token)
  session.set(found)
  return true
}

export function signOut(): void {
  keep('sessionStorage', key, '')
  session.set(undefined)
}

function sessionOf(token: string): Session | undefined {
  const [, body, ...more] = token.split('.')
  if (!body || more.length !== 1) return undefined
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    const { sub, level, exp, chains } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    if (typeof sub !== 'string' || typeof level !== 'string' || typeof exp !== 'number') return undefined
    return { token, claims: { name: sub, level, expiresAt: exp * 1_000, ...(Array.isArray(chains) && { chains: chains.map(String) }) } }
  } catch {
    return undefined
  }
}

/** Returns what the claims lack for an order to the target `chain`, as a sentence. Undefined if they suffice. */
export function missingFor(claims: Claims | undefined, chain: string | undefined, now: number, isForMany = false): string | undefined {
  const needed = `This needs an access token of level ${transferOrderLevel}, and`
  if (!claims) return `${needed} none was entered.`
  const { name, expiresAt, level, chains } = claims
  if (expiresAt <= now) return `${needed} that of ${name} has expired.`
  if (!reaches(level as AccessLevel, transferOrderLevel)) return `${needed} that of ${name} is of level ${level}.`
  if (!chains) return undefined
  const scope = `token of ${name} is only for ${chains.join(', ')}`
  if (chain !== undefined) return chains.includes(chain) ? undefined : `This is about ${chain}, and the ${scope}.`
  return isForMany ? `The ${scope}: choose that target above the list.` : undefined
}
