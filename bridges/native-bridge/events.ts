import { id as topicOf } from 'ethers'
import type { BlockRef, Log, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { DeliveryLog } from '../common/find-delivery.ts'
import { type LogReader, readLogs } from '../common/logs.ts'
import type { BlockRange } from '../source-port.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { checkId, type CompletionArguments, type NativeTransfer, transferOfCompletion } from './message.ts'

/** A transfer as an event tells of it. */
export interface TransferEvent {
  readonly transfer: NativeTransfer
  readonly block: BlockRef
  readonly txHash: string
}

const initiatedTopic = topicOf('BridgeTransferInitiated(bytes32,address,bytes32,uint256,uint256)')
const completedTopic = topicOf('BridgeTransferCompleted(bytes32,bytes32,address,uint256,uint256)')

/** The transfers that started in these blocks, in order. Throws NATIVE_ID_MISMATCH (below `agreed` one node's word: ask there before a halt), as `readLogs`. */
export async function initiatedIn(chain: LogReader, bridge: string, range: BlockRange, at?: 'agreed'): Promise<readonly TransferEvent[]> {
  const logs = await readLogs(chain, { address: bridge.toLowerCase(), topics: [initiatedTopic], ...range }, at)
  return logs.map((log) => {
    const [id, initiator, recipient, amount, nonce] = argumentsOf(log, 'BridgeTransferInitiated')
    return toEvent(log, { id, initiator, recipient, amount, nonce })
  })
}

/** The transfers that any account completed in these blocks, as their sources know them. Throws as `initiatedIn`. */
export async function completedIn(chain: LogReader, bridge: string, range: BlockRange, at?: 'agreed'): Promise<readonly TransferEvent[]> {
  const logs = await readLogs(chain, { address: bridge.toLowerCase(), topics: [completedTopic], ...range }, at)
  return logs.map((log) => toEvent(log, completedBy(log)))
}

/** Where the completion of this transfer is found. A log that cannot be read, or contradicts itself, shows nothing: a node made it up. */
export function completionLog(bridge: string, { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>): Required<DeliveryLog> {
  return {
    address: bridge,
    topics: [completedTopic, id],
    shows(log) {
      try {
        const transfer = checkId(completedBy(log))
        return transfer.id === id && transfer.nonce === nonce
      } catch (error) {
        if (error instanceof RelayerError) return false
        throw error
      }
    },
  }
}

function completedBy(log: Log): NativeTransfer {
  return transferOfCompletion(argumentsOf(log, 'BridgeTransferCompleted'))
}

function toEvent({ block, transactionHash }: PlacedLog, transfer: NativeTransfer): TransferEvent {
  return { transfer: checkId(transfer), block, txHash: transactionHash }
}

/** Throws NODE_REFUSED: the log is not this event. */
function argumentsOf({ topics, data }: Log, name: string): CompletionArguments {
  try {
    const args = nativeBridgeAbi.decodeEventLog(name, data, topics)
    const [id, from, to, amount, nonce] = args
    // ethers cuts what is too long for its type; a number of a stream has 64 bits.
    if (nativeBridgeAbi.encodeEventLog(name, args.toArray()).data !== data.toLowerCase() || (nonce as bigint) >= 2n ** 64n)
      throw new RangeError('It is not encoded as the contract does.')
    return [lower(id), lower(from), lower(to), amount as bigint, nonce as bigint]
  } catch (cause) {
    throw new RelayerError('NODE_REFUSED', { detail: `A node answered with a log that is no ${name}.`, cause })
  }
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}
