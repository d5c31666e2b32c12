/** The name of a bridge protocol, as in the config: `wormhole-token-bridge`. */
export type BridgeName = string
/** A chain by its name in the config: `ethereum`. The names are the same across a fleet. */
export type ChainName = string

/** Most bytes of a message: every step carries it as base64, and Temporal takes 2 MiB for a value. */
export const mostMessageBytes = 200_000

/** One message to deliver, plain JSON. It takes an id, so its signatures (or the source's table) were checked. */
export interface Transfer {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** The source's number in the protocol, decimal. Ids use it, since a config may rename the chain. */
  readonly sourceId: string
  readonly targetChain: ChainName
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
  /** u64 as a decimal string. */
  readonly sequence: string
  /** keccak256(keccak256(body)) for a VAA: 64 lower-case hex digits with 0x. */
  readonly digest: string
  /** The signed message, base64. */
  readonly message: string
}

/** The state of a transfer. The last four are outcomes. */
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

/** The states that may follow a state. The lifecycle document is generated from this table. */
export const transitions: Readonly<Record<TransferState, readonly TransferState[]>> = next
export const transferStates = Object.keys(transitions) as readonly TransferState[]

export function isOutcome(state: TransferState): boolean {
  return transitions[state].length === 0
}

/** The delivering transaction, as the target chain shows it. */
export interface Delivery {
  /** Its sender, lower-case 0x address. Absent if the chain shows only that it happened. */
  readonly by?: string
  /** The sender is one of our lanes. */
  readonly ours: boolean
  readonly txHash?: string
  readonly blockHeight?: number
  readonly blockHash?: string
  /** Gas paid on the target chain, wei, decimal. Only for our own deliveries. */
  readonly gasPaid?: string
}
