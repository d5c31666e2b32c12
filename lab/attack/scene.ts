import type { HDNodeWallet } from 'ethers'
import type { ChainKey, FaultTargets } from '../faults/fault-targets.ts'
import type { AnySent } from '../devnet/sent.ts'

/** Each chain has two keys and three nodes. Two nodes are a majority, so one may lie. All three guardians sign. */
export const attackDevnet = {
  ...{ keysPerChain: 2, blockTimeSeconds: 1, slotsInAnEpoch: 2, nodesPerChain: 3, guardians: 3 },
  ...{ auditMinutes: 0.2, transferAuditMinutes: 0.5 },
} as const

const coin = 10n ** 18n
/**
 * Most that a key may spend in this run, wei. The hourly limit is the lower one on ethereum, and the daily limit on
 * bsc.
 */
export const mostPerHour: Readonly<Record<ChainKey, bigint>> = { ethereum: coin, bsc: 100n * coin }
export const mostPerDay: Readonly<Record<ChainKey, bigint>> = { ethereum: 100n * coin, bsc: coin }

/** The recipient of operators' payments. Its key is unknown. */
export const treasury = `0x${'7e'.repeat(20)}`

/** Most that a transaction of a lane may cost in this run, wei. */
export const worstCost = 10n ** 17n

/** A payment of coins that an operator ordered. Its amount is unique, so the chain shows how often it was paid. */
export interface Payment {
  readonly chain: 'ethereum' | 'bsc'
  /** wei. */
  readonly amount: bigint
  /** Workflow id of the operator transaction. */
  readonly id: string
}

/** The attackers' targets, the operator's acts and the findings, in addition to the parts of a fault run. */
export interface AttackScene extends FaultTargets {
  /** Receives stolen coins. No honest user pays this address. Its key is new in each run. */
  readonly thief: HDNodeWallet
  /**
   * Honest users' transfers that an operator cancels. Each must end as delivered, or as cancelled without an effect.
   */
  readonly cancelled: AnySent[]
  readonly payments: Payment[]
  /** Ids of transfers that exist only in strangers' messages. */
  readonly believed: Set<string>
  /** Orders without permission that the API accepted. */
  readonly unnamedOrders: string[]
  /** Revoked tokens of admins. */
  readonly revoked: string[]
  /** Honest requests that the API did not answer while an attacker held its connections. */
  readonly shutOut: string[]
  /** Requests that reached a hostile server. No process should send one. */
  readonly overheard: string[]
  /** Attackers' transfers. They need not arrive, but none may arrive twice. */
  readonly hostile: AnySent[]
  /** A secret of the processes' environment that no config names. */
  readonly canary: string
}
