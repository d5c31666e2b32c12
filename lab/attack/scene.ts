import type { HDNodeWallet } from 'ethers'
import type { DevnetAccount } from '../devnet/chain/accounts.ts'
import type { PortageProcess } from '../devnet/portage-process.ts'
import type { ChainKey, FaultTargets } from '../faults/fault-targets.ts'
import type { AnySent } from '../devnet/sent.ts'

/** One of the three nodes of a chain may lie, because two nodes are a majority. All three guardians sign. */
export const attackDevnet = {
  ...{ keysPerChain: 2, blockTimeSeconds: 1, slotsInAnEpoch: 2, nodesPerChain: 3, guardians: 3 },
  ...{ auditMinutes: 0.2, transferAuditMinutes: 0.5 },
} as const

const coin = 10n ** 18n
/** Limits of a key, wei. On ethereum, the hourly limit is the lower one. On bsc, the daily limit is the lower one. */
export const mostPerHour: Readonly<Record<ChainKey, bigint>> = { ethereum: coin, bsc: 100n * coin }
export const mostPerDay: Readonly<Record<ChainKey, bigint>> = { ethereum: 100n * coin, bsc: coin }

/** Recipient of operators' payments. Nobody has the key of this address. */
export const treasury = `0x${'7e'.repeat(20)}`

/** Maximum cost of a lane's transaction in this run, wei. */
export const worstCost = 10n ** 17n

/** A payment that an operator ordered. The amount is unique, so the chain shows how often the payment was made. */
export interface Payment {
  readonly chain: 'ethereum' | 'bsc'
  /** wei. */
  readonly amount: bigint
  readonly id: string
}

/** A contract that accepts the messages of one account. */
export interface ReceiverEnd {
  readonly source: ChainKey
  /** A contract on the target. 0x, lower case. */
  readonly contract: string
  /** Account on the source whose messages the contract accepts. */
  readonly sender: DevnetAccount
  /** Payloads of honest messages. */
  readonly sent: string[]
}

/** Ends of `bridges.receivers`, by target chain. */
export type ReceiverEnds = Readonly<Record<ChainKey, ReceiverEnd>>

/** Living processes that serve the API. */
export function withApi({ fleet }: Pick<AttackScene, 'fleet'>): PortageProcess[] {
  return fleet.alive.filter(({ hasApi }) => hasApi)
}

export interface AttackScene extends FaultTargets {
  /** Owner of stolen coins. No honest user pays this address. */
  readonly thief: HDNodeWallet
  readonly receivers: ReceiverEnds
  /** Whether the config has a plug-in, which delivers payloads to the contracts of `receivers`. */
  readonly hasPlugin: boolean
  /** Honest transfers that an operator cancels. Each must end as delivered, or as cancelled and not delivered. */
  readonly cancelled: AnySent[]
  readonly payments: Payment[]
  /** Ids of transfers that exist only in messages of strangers. */
  readonly believed: Set<string>
  readonly unnamedOrders: string[]
  readonly revoked: string[]
  readonly shutOut: string[]
  /** Requests that reached a server of the attacker. */
  readonly overheard: string[]
  /** Attackers' transfers. They need not arrive, but must not arrive twice. */
  readonly hostile: AnySent[]
  /** Secret in the environment of the processes. No config names the secret. */
  readonly canary: string
}
