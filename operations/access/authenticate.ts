import type { Principal } from '../../domain/access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'
import { assertNotRevoked } from './authorize.ts'
import type { KeyRing } from './key-ring.ts'
import { type Audience, verifyToken } from './tokens.ts'

/** What a server checks tokens by. */
export interface TokenCheck {
  readonly ring: KeyRing
  readonly audience: Audience
  /** The list of tokens, by which they are revoked; undefined: it was not read yet. */
  readonly tokens: () => readonly IssuedToken[] | undefined
}

/** Whose token this is. Throws ACCESS_TOKEN_*, ACCESS_KEYS, SETTINGS_UNREACHABLE. */
export async function authenticate(token: string | undefined, { ring, audience, tokens }: TokenCheck): Promise<Principal> {
  if (token === undefined) throw new RelayerError('ACCESS_TOKEN_MISSING')
  const principal = await verifyToken(await ring.keys(), audience, token)
  const listed = tokens()
  // A token that was revoked must not be good just because this process has just started.
  if (!listed) throw new RelayerError('SETTINGS_UNREACHABLE', { detail: 'Which tokens are revoked is not known yet.' })
  assertNotRevoked(principal, listed)
  return principal
}

/**
 * That what a token allowed goes on: it has not ended, is not on the list as revoked, and the key that signed it is still there. Throws
 * ACCESS_TOKEN_EXPIRED, ACCESS_TOKEN_REVOKED, ACCESS_TOKEN_INVALID (its key was removed), ACCESS_KEYS.
 */
export async function assertStillGood(principal: Principal, { ring, tokens }: Pick<TokenCheck, 'ring' | 'tokens'>): Promise<void> {
  if (Date.now() >= principal.expiresAt) throw new RelayerError('ACCESS_TOKEN_EXPIRED')
  const listed = tokens()
  if (listed) assertNotRevoked(principal, listed)
  const keys = await ring.keys()
  if (!keys.some(({ kid }) => kid === principal.kid)) throw new RelayerError('ACCESS_TOKEN_INVALID')
}

/** The token of an Authorization header: RFC 6750, section 2.1. One in the query would end in logs, so that it is not looked for there. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '')?.[1]
}
