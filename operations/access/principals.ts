import { type AccessLevel, covers, type OrderSubject, type Principal, reaches } from '../../domain/access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'
import type { KeyRing } from './keys.ts'
import { verifyToken } from './tokens.ts'

export interface TokenCheck {
  readonly ring: KeyRing
  /** Temporal namespace of the token. */
  readonly audience: string
  readonly tokens: () => readonly IssuedToken[] | undefined
}

/** The person of a valid token that was not revoked. Throws ACCESS_TOKEN_*, ACCESS_KEYS and SETTINGS_UNREACHABLE. */
export async function authenticate(token: string | undefined, { ring, audience, tokens }: TokenCheck): Promise<Principal> {
  if (token === undefined) throw new RelayerError('ACCESS_TOKEN_MISSING')
  const principal = await verifyToken(await ring.keys(), audience, token)
  const listed = tokens()
  // A process that has not read the settings yet must not accept a revoked token.
  if (!listed) throw new RelayerError('SETTINGS_UNREACHABLE', { detail: 'The list of revoked tokens is not known yet.' })
  assertNotRevoked(principal, listed)
  return principal
}

/** Checks a token again during a long request. Throws ACCESS_TOKEN_* and ACCESS_KEYS. */
export async function assertStillGood(principal: Principal, { ring, tokens }: Pick<TokenCheck, 'ring' | 'tokens'>): Promise<void> {
  if (Date.now() >= principal.expiresAt) throw new RelayerError('ACCESS_TOKEN_EXPIRED')
  assertNotRevoked(principal, tokens())
  const keys = await ring.keys()
  if (!keys.some(({ kid }) => kid === principal.kid)) throw new RelayerError('ACCESS_TOKEN_INVALID')
}

/** RFC 6750, section 2.1. Tokens in URLs are ignored, because logs show URLs. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '')?.[1]
}

export function assertNotRevoked({ jti }: Principal, tokens: readonly IssuedToken[] = []): void {
  const row = tokens.find((one) => one.jti === jti)
  if (row?.revoked) throw new RelayerError('ACCESS_TOKEN_REVOKED', { facts: { jti } })
}

export function assertLevel({ name, level }: Principal, operation: string, needed: AccessLevel): void {
  if (!reaches(level, needed)) throw new RelayerError('ACCESS_LEVEL', { facts: { operation, needed, level, name } })
}

export function assertScope(principal: Principal, operation: string, about: OrderSubject): void {
  if (covers(principal, about)) return
  const { name, chains, lanes } = principal
  const subject = [about.chains?.join(',') ?? 'all chains', about.lane].filter(Boolean).join(' ')
  const facts = { operation, name, chains: chains?.join(','), lanes: lanes?.join(','), about: subject }
  throw new RelayerError('ACCESS_SCOPE', { facts })
}
