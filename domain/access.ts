import type { LaneId } from './lane/lane-id.ts'
import type { ChainName } from './transfer/transfer.ts'

/** What a token allows; each level includes those before it. docs/operate/access.md has the orders of each. */
export const accessLevels = ['read', 'write', 'sign', 'admin'] as const
export type AccessLevel = (typeof accessLevels)[number]

/** The longest that a token is good, ms: a revocation need not be remembered for longer. */
export const longestTokenMs = 366 * 24 * 3_600_000

/** What the orders of a token may be about. Absent: all. */
export interface AccessScope {
  readonly chains?: readonly ChainName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

/** What an order is about. Without chains it is about all of them; without a lane, about no single one. */
export interface OrderSubject {
  readonly chains?: readonly ChainName[] | undefined
  readonly lane?: LaneId | undefined
}

/** Who gives an order: the claims of a token whose signature is good. */
export interface Principal extends AccessScope {
  /** The `by` of every order. */
  readonly name: string
  readonly level: AccessLevel
  /** Identifies the token; by it a token is revoked. */
  readonly jti: string
  /** The key that signed the token. */
  readonly kid: string
  /** ms since the epoch, as `expiresAt`. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Whether the level reaches another. */
export function reaches(level: AccessLevel, needed: AccessLevel): boolean {
  return accessLevels.indexOf(level) >= accessLevels.indexOf(needed)
}

/** Whether an order lies within a scope: every chain that it is about, and its lane. An order about everything lies only within a scope without limits. */
export function covers({ chains, lanes }: AccessScope, about: OrderSubject): boolean {
  const inChains = chains === undefined || (about.chains !== undefined && about.chains.every((one) => chains.includes(one)))
  const inLanes = lanes === undefined || (about.lane !== undefined && lanes.includes(about.lane))
  return inChains && inLanes
}
