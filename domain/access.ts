import type { LaneId } from './lane/lane.ts'
import type { ChainName } from './transfer/transfer.ts'

/** Levels of a token; each includes the levels before it. docs/operate/access.md lists the orders of each level. */
export const accessLevels = ['read', 'write', 'sign', 'admin'] as const
export type AccessLevel = (typeof accessLevels)[number]

/** Maximum lifetime of a token, ms. A revocation need not be kept longer, because the token has expired by then. */
export const longestTokenMs = 366 * 24 * 3_600_000

/** The chains and lanes that the orders of a token may concern. Absent: all. */
export interface AccessScope {
  readonly chains?: readonly ChainName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

/** The chains and the lane that an order concerns. Absent chains: all chains. Absent lane: no lane in particular. */
export interface OrderSubject {
  readonly chains?: readonly ChainName[] | undefined
  readonly lane?: LaneId | undefined
}

/** The author of an order: the claims of a token whose signature is valid. */
export interface Principal extends AccessScope {
  /** Becomes the `by` of each order of this person. */
  readonly name: string
  readonly level: AccessLevel
  readonly jti: string
  readonly kid: string
  /** ms since the epoch, like `expiresAt`. */
  readonly issuedAt: number
  readonly expiresAt: number
}

export function reaches(level: AccessLevel, needed: AccessLevel): boolean {
  return accessLevels.indexOf(level) >= accessLevels.indexOf(needed)
}

/** Whether a scope covers the chains and lane of an order. An order for all chains needs a scope without `chains`. */
export function covers({ chains, lanes }: AccessScope, about: OrderSubject): boolean {
  const inChains = chains === undefined || (about.chains !== undefined && about.chains.every((one) => chains.includes(one)))
  const inLanes = lanes === undefined || (about.lane !== undefined && lanes.includes(about.lane))
  return inChains && inLanes
}
