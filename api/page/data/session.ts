import { type AccessLevel, type Principal, reaches } from '../../../domain/access.ts'
import { transferOrderLevel } from '../../../operations/orders/transfer-text.ts'
import { createStore, keep, kept } from './store.ts'

const key = 'portage-token'

/** The server alone checks a token; these claims only warn the reader. */
export interface Claims extends Pick<Principal, 'name' | 'expiresAt' | 'chains'> {
  readonly level: string
}

interface Session {
  readonly token: string
  readonly claims: Claims
}

/** Of this tab, until it is closed. */
export const session = createStore(sessionOf(kept('sessionStorage', key)))

/** False: the text is malformed. */
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

/** As `missingFor`, for many transfers. @param chain undefined: any, which a token with a scope may not order */
export function missingForMany(claims: Claims | undefined, chain: string | undefined, now: number): string | undefined {
  const missing = missingFor(claims, chain, now)
  if (missing !== undefined || chain !== undefined || !claims?.chains) return missing
  return `The token of ${claims.name} is only for ${claims.chains.join(', ')}: choose that target above the list.`
}

/** The rights for an order that a token lacks, as far as the claims show. @param chain the transfer's target */
export function missingFor(claims: Claims | undefined, chain: string | undefined, now: number): string | undefined {
  const needed = `This needs an access token of level ${transferOrderLevel}, and`
  if (!claims) return `${needed} none was entered.`
  if (claims.expiresAt <= now) return `${needed} that of ${claims.name} has expired.`
  if (!reaches(claims.level as AccessLevel, transferOrderLevel)) return `${needed} that of ${claims.name} is of level ${claims.level}.`
  if (chain !== undefined && claims.chains && !claims.chains.includes(chain))
    return `This is about ${chain}, and the token of ${claims.name} is only for ${claims.chains.join(', ')}.`
  return undefined
}
