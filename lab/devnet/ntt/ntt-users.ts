import { freshAddress } from '../chain/accounts.ts'
import type { Mined } from '../chain/contracts.ts'
import { createSender } from '../chain/sender.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import { published } from '../wormhole/wormhole.ts'
import { managerAbi, type NttEnd } from './ntt-contracts.ts'

export interface NttUserTransfer {
  /** Amount with 8 decimals, which every end can carry. */
  readonly amount: bigint
  readonly recipient?: string
}

export interface SentNttTransfer {
  readonly source: string
  readonly target: string
  readonly emitterChain: number
  /** Emitter and sequence of the first message. */
  readonly emitter: string
  readonly sequence: bigint
  /** One message per transceiver of the source. `emitter`: 64 lower-case hex digits. */
  readonly messages: readonly { readonly emitter: string; readonly sequence: bigint }[]
  /** Digest of the manager's message, 0x. All transceivers carry the same digest. */
  readonly digest: string
  /** Lower-case 0x address. */
  readonly recipient: string
  /** Amount in the smallest unit of the target's token. */
  readonly amount: bigint
  readonly asset: string
  readonly txHash: string
  readonly height: number
  readonly sentAt: number
}

export interface NttUsers {
  /**
   * Sends the transfers in as few blocks as possible. Resolves when all are mined. Throws Error if a transfer reverted.
   */
  send(transfers: readonly NttUserTransfer[]): Promise<SentNttTransfer[]>
}

/**
 * Gas limit. Locking costs 166,000 gas, burning costs 193,000 gas, and a second transceiver costs another 70,000 gas.
 */
const gasLimit = 500_000n

export function startNttUsers(source: NttEnd, target: NttEnd): NttUsers {
  const send = createSender(source.anvil, source.user, gasLimit)
  return {
    async send(transfers) {
      const wanted = transfers.map(({ amount, recipient = freshAddress() }) => ({ amount, recipient: recipient.toLowerCase() }))
      const mined = await send(wanted.map((one) => ({ to: source.manager, data: transferCall(source, target, one) })))
      return mined.map((transaction, index) => nttOutcome(source, target, wanted[index] as Wanted, transaction))
    },
  }
}

type Wanted = Required<NttUserTransfer>

/** Calldata of a transfer. Messages on a devnet cost nothing, so the call carries no coins. */
function transferCall(source: NttEnd, target: NttEnd, { amount, recipient }: Wanted): string {
  const args = [inUnitsOf(source, amount), target.wormholeChainId, `0x${toUniversal(recipient)}`]
  return managerAbi.encodeFunctionData('transfer(uint256,uint16,bytes32)', args)
}

export function inUnitsOf({ decimals }: NttEnd, amount: bigint): bigint {
  return amount * 10n ** BigInt(decimals - 8)
}

export function nttOutcome(source: NttEnd, target: NttEnd, { amount, recipient }: Wanted, mined: Mined): SentNttTransfer {
  const event = managerAbi.getEvent('TransferSent(bytes32)')
  const sent = mined.logs.find(({ address, topics }) => address.toLowerCase() === source.manager && topics[0] === event?.topicHash)
  const digest = sent?.topics[1]
  if (digest === undefined) throw new Error(`The user's transaction ${mined.transactionHash} on ${source.name} reverted`)
  const messages = published(mined, source.core, source.wormholeChainId).map(({ emitter, sequence }) => ({ emitter, sequence }))
  return {
    source: source.name,
    target: target.name,
    emitterChain: source.wormholeChainId,
    ...{ emitter: '', sequence: 0n, ...messages[0], messages },
    digest,
    recipient,
    amount: inUnitsOf(target, amount),
    asset: target.token,
    txHash: mined.transactionHash,
    height: mined.blockNumber,
    sentAt: mined.timestamp,
  }
}
