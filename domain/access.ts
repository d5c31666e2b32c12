import type { LaneId } from './lane/lane.ts'
import type { ChainName } from './transfer/transfer.ts'

/** Each level includes all levels before it. */
export const accessLevels = ['read', 'write', 'sign', 'admin'] as const
export type AccessLevel = (typeof accessLevels)[number]

/** Maximum lifetime of a token. A revocation older than this may be deleted, because its token has expired. */
export const longestTokenMs = 366 * 24 * 3_600_000

/** An absent list allows all chains or all lanes. */
export interface AccessScope {
  readonly chains?: readonly ChainName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

/** An order without `chains` concerns all chains. */
export interface OrderSubject {
  readonly chains?: readonly ChainName[] | undefined
  readonly lane?: LaneId | undefined
}

/** Times are ms since the epoch. */
export interface Principal extends AccessScope {
  readonly name: string
  readonly level: AccessLevel
  readonly jti: string
  readonly kid: string
  readonly issuedAt: number
  readonly expiresAt: number
}

export function reaches(level: AccessLevel, needed: AccessLevel): boolean {
  return accessLevels.indexOf(level) >= accessLevels.indexOf(needed)
}

/**
 * Whether the scope allows the order. Only a scope without `chains` allows an order without `chains`. Only a scope
 * without `lanes` allows an order without `lane`.
 */
export function covers({ chains, lanes }: AccessScope, about: OrderSubject): boolean {
  const inChains = chains === undefined || (about.chains !== undefined && about.chains.every((one) => chains.includes(one)))
  const inLanes = lanes === undefined || (about.lane !== undefined && lanes.includes(about.lane))
  return inChains && inLanes
}
