import { type AccessLevel, covers, type OrderSubject, type Principal, reaches } from '../../domain/access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'

/** Throws ACCESS_TOKEN_REVOKED. */
export function assertNotRevoked({ jti }: Principal, tokens: readonly IssuedToken[] = []): void {
  const row = tokens.find((one) => one.jti === jti)
  if (row?.revoked) throw new RelayerError('ACCESS_TOKEN_REVOKED', { facts: { jti } })
}

/** Throws ACCESS_LEVEL. */
export function assertLevel({ name, level }: Principal, operation: string, needed: AccessLevel): void {
  if (!reaches(level, needed)) throw new RelayerError('ACCESS_LEVEL', { facts: { operation, needed, level, name } })
}

/** Throws ACCESS_SCOPE. */
export function assertScope(principal: Principal, operation: string, about: OrderSubject): void {
  if (covers(principal, about)) return
  const { name, chains, lanes } = principal
  const facts = { operation, name, chains: chains?.join(','), lanes: lanes?.join(','), about: aboutText(about) }
  throw new RelayerError('ACCESS_SCOPE', { facts })
}

function aboutText({ chains, lane }: OrderSubject): string {
  return [chains?.join(',') ?? 'all chains', lane].filter(Boolean).join(' ')
}
