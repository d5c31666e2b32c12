import { type ErrorCode, RelayerError } from '../catalogue/errors.ts'
export type BridgeName = string
/** Name of a chain in the config: `ethereum`. All processes of a fleet use the same names. */
export type ChainName = string

/** Maximum size of a message. Every step carries the message as base64, and Temporal accepts only 2 MiB per value. */
export const mostMessageBytes = 200_000

/**
 * Plain JSON. The submitter has checked the message. Steps check it again, because anyone with access to Temporal can
 * start a run.
 */
export interface Transfer {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** The source chain's number in the protocol, decimal. Ids contain it, because a config may rename the chain. */
  readonly sourceId: string
  readonly targetChain: ChainName
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
  /** u64 as a decimal string. */
  readonly sequence: string
  /** keccak256(keccak256(body)) for a VAA: 64 lower-case hex digits with 0x. */
  readonly digest: string
  /** The message as the bridge encodes it, base64: a VAA, or the bytes of a native transfer, burn or request. */
  readonly message: string
  /** Limits of the submission that started the transfer. A transfer that a person starts again has none. */
  readonly terms?: Terms
  /**
   * For a day after `at`, a process with another config does not refuse the transfer. Absent: any process may refuse
   * it, as after a person has started it again.
   */
  readonly startedUnder?: {
    /** `routesDigest` of the process that started the transfer: a digest of its config's chains and bridges. */
    readonly routes: string
    /** When the transfer was started, ms since the epoch. */
    readonly at: number
  }
}

export type TransferRoute = Pick<Transfer, 'bridge' | 'sourceChain' | 'targetChain'>

/** A submission can only lower the limits of the config and of the signer. */
export interface Terms {
  /** Wei per gas, decimal. */
  readonly maxFeePerGas?: string
  /** Decimal wei. */
  readonly maxFeePerTransaction?: string
  readonly lane?: string
}

export type TransferState = keyof typeof next

const next = {
  admitting: ['waiting', 'broadcasting', 'included', 'parked', 'delivered', 'rejected', 'declined', 'cancelled'],
  waiting: ['admitting', 'parked', 'delivered', 'cancelled'],
  broadcasting: ['admitting', 'pending', 'included', 'waiting', 'parked', 'delivered', 'cancelled'],
  pending: ['broadcasting', 'included', 'waiting', 'parked', 'delivered', 'cancelled'],
  included: ['admitting', 'broadcasting', 'waiting', 'parked', 'delivered', 'cancelled'],
  parked: ['admitting', 'delivered', 'cancelled'],
  delivered: [],
  rejected: [],
  declined: [],
  cancelled: [],
} as const

/** The lifecycle document is generated from this table. */
export const transitions: Readonly<Record<TransferState, readonly TransferState[]>> = next
export const transferStates = Object.keys(transitions) as readonly TransferState[]

export function isOutcome(state: TransferState): boolean {
  return transitions[state].length === 0
}

/** `spentNonces`: number of the transfer's nonces that other transactions have used. */
export interface ParkLimits {
  readonly reverts: number
  readonly spentNonces: number
}

/** More spent nonces are allowed than reverts, because a transfer does not cause a spent nonce. */
export const defaultParkAfter: ParkLimits = { reverts: 5, spentNonces: 20 }

export interface Delivery {
  /** Address of the sender, lower case. Absent if the chain shows a delivery without its sender. */
  readonly by?: string
  readonly ours: boolean
  readonly txHash?: string
  readonly blockHeight?: number
  readonly blockHash?: string
  readonly gasPaid?: string
}

export const mip61Bridge = 'native-bridge' satisfies BridgeName

/** MIP-61's state for each state of a transfer. `transfer_pending_executed`: completed in a block that is not final. */
const byState = {
  admitting: 'transfer_initiated',
  waiting: 'transfer_initiated',
  parked: 'transfer_initiated',
  broadcasting: 'transfer_pending',
  pending: 'transfer_pending',
  included: 'transfer_pending_executed',
  delivered: 'transfer_completed',
  // MIP-61 has no state for a transfer that ends without a delivery.
  rejected: undefined,
  declined: undefined,
  cancelled: undefined,
} as const satisfies Record<TransferState, string | undefined>

/** `transfer_pending_failed`: the delivery reverted and will be sent again. */
export type Mip61State = NonNullable<(typeof byState)[TransferState]> | 'transfer_pending_failed'

/**
 * MIP-61 has states only for its own bridge. Undefined for another bridge, and for a transfer that ended without a
 * delivery.
 */
export function mip61Of(transfer: { bridge: BridgeName; state: TransferState; code?: ErrorCode | undefined }): Mip61State | undefined {
  const { bridge, state, code } = transfer
  if (bridge !== mip61Bridge) return undefined
  const failed = code === 'DELIVERY_REVERTED' && (state === 'waiting' || state === 'parked')
  return failed ? 'transfer_pending_failed' : byState[state]
}

/** Name of a source chain that is not in the config. No chain of a config may have a name of this form. */
export function unconfiguredSource(wormholeChainId: number): ChainName {
  return `wormhole-${wormholeChainId}`
}

export function numberOfUnconfigured(name: ChainName): string | undefined {
  return /^wormhole-([1-9][0-9]{0,4})$/.exec(name)?.[1]
}

/** Throws TARGET_CHAIN_UNSUPPORTED if this process does not serve the chain. */
export function ofChain<T>(parts: ReadonlyMap<ChainName, T> | undefined, facts: { chain: ChainName; bridge?: BridgeName }): T {
  const part = parts?.get(facts.chain)
  if (part !== undefined) return part
  const detail = `This process serves ${[...(parts?.keys() ?? [])].join(', ') || 'no chain'}.`
  throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { detail, facts })
}
