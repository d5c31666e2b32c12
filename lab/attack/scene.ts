import type { HDNodeWallet } from 'ethers'
import type { ChainKey, FaultTargets } from '../faults/fault-targets.ts'
import type { AnySent } from '../devnet/sent.ts'

/** Two keys on each chain. Two of its three nodes are a majority, and one may lie. Three of three guardians sign. */
export const attackDevnet = {
  ...{ keysPerChain: 2, blockTimeSeconds: 1, slotsInAnEpoch: 2, nodesPerChain: 3, guardians: 3 },
  ...{ auditMinutes: 0.2, transferAuditMinutes: 0.5 },
} as const

const coin = 10n ** 18n
/**
 * Most that a key may spend in this run, wei. The hourly limit decides on one chain, and the daily limit on the other.
 */
export const mostPerHour: Readonly<Record<ChainKey, bigint>> = { ethereum: coin, bsc: 100n * coin }
export const mostPerDay: Readonly<Record<ChainKey, bigint>> = { ethereum: 100n * coin, bsc: coin }

/** Where operators pay to. Its key is unknown. */
export const treasury = `0x${'7e'.repeat(20)}`

/** Most that a transaction of a lane may cost in this run, wei. */
export const worstCost = 10n ** 17n

/** A coin payment of an operator. Its amount is unique, so the chain shows how often it was paid. */
export interface Payment {
  readonly chain: 'ethereum' | 'bsc'
  /** wei. */
  readonly amount: bigint
  /** Workflow id of the operator transaction. */
  readonly id: string
}

/** The attackers' targets, and the acts of operators besides the honest transfers. */
export interface AttackScene extends FaultTargets {
  /** Receives the stolen coins. No honest user pays this address. Its key is new in each run. */
  readonly thief: HDNodeWallet
  /** Transfers of honest users that an operator cancels: each ends delivered, or cancelled without an effect. */
  readonly cancelled: AnySent[]
  readonly payments: Payment[]
  /** Ids of transfers that only strangers' messages claim. */
  readonly believed: Set<string>
  /** Orders without permission that the API accepted. */
  readonly unnamedOrders: string[]
  /** Tokens of admins that were revoked. */
  readonly revoked: string[]
  /** Honest requests that the API did not answer while an attacker held its connections. */
  readonly shutOut: string[]
  /** Requests that reached a hostile server, to which nobody should send. */
  readonly overheard: string[]
  /** Attackers' transfers. They need not arrive, but must not arrive twice. */
  readonly hostile: AnySent[]
  /** A secret of the processes' environment that no config names. */
  readonly canary: string
}
