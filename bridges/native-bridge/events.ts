import { id as topicOf } from 'ethers'
import type { Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type DeliveryLog, type LogReader, type LogsAt, readLogs } from '../kit/logs.ts'
import type { BlockRange } from '../port.ts'
import { argumentsIn, checkId, type CompletionArguments, type NativeTransfer, transferOfCompletion } from './message.ts'

export const initiatedTopic = topicOf('BridgeTransferInitiated(bytes32,address,bytes32,uint256,uint256)')
export const completedTopic = topicOf('BridgeTransferCompleted(bytes32,bytes32,address,uint256,uint256)')

/**
 * Whether one node shows logs in a range of blocks. Most nodes must then be asked, because a transfer that one node
 * invents would never be verified, and would stop the stream.
 */
export async function hasLogs(chain: LogReader, bridge: string, topic: string, range: BlockRange): Promise<boolean> {
  return (await chain.logs({ address: bridge.toLowerCase(), topics: [topic], ...range })).length > 0
}

/** Reads the transfers in a range of blocks. Throws the errors of `readLogs`, and NATIVE_ID_MISMATCH. */
export function transfersIn(chain: LogReader, bridge: string, topic: string, range: BlockRange, at?: LogsAt) {
  return readLogs(chain, { address: bridge.toLowerCase(), topics: [topic], ...range }, at, (log) => ({
    transfer: checkId(transferOf(log, topic)),
    block: log.block,
    txHash: log.transactionHash,
  }))
}

/**
 * Describes the log of a completion. A log that contradicts itself does not count, because a node must have invented
 * it.
 */
export function completionLog(bridge: string, { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>): Required<DeliveryLog> {
  return {
    address: bridge,
    topics: [completedTopic, id],
    shows(log) {
      try {
        const transfer = checkId(transferOf(log, completedTopic))
        return transfer.id === id && transfer.nonce === nonce
      } catch (error) {
        if (error instanceof RelayerError) return false
        throw error
      }
    },
  }
}

/**
 * `completedUnder`: the nonce of the id's completion, 0 if there is none. Throws NATIVE_NONCE_MISMATCH if the id was
 * completed under another nonce.
 */
export function isCompleted(chain: string, { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>, completedUnder: bigint): boolean {
  if (completedUnder === 0n || completedUnder === nonce) return completedUnder !== 0n
  const facts = { chain, id, nonce: String(nonce), completedUnder: String(completedUnder) }
  throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts })
}

function transferOf(log: Log, topic: string): NativeTransfer {
  const values = argumentsOf(log, topic)
  const [id, initiator, recipient, amount, nonce] = values
  return topic === completedTopic ? transferOfCompletion(values) : { id, initiator, recipient, amount, nonce }
}

/** Three indexed topics and the data, joined by spaces. The data consists of the amount and a nonce of 64 bits. */
const initiatedForm = /^0x([0-9a-f]{64}) 0x0{24}([0-9a-f]{40}) 0x([0-9a-f]{64}) 0x([0-9a-f]{64})0{48}([0-9a-f]{16})$/
const completedForm = /^0x([0-9a-f]{64}) 0x([0-9a-f]{64}) 0x0{24}([0-9a-f]{40}) 0x([0-9a-f]{64})0{48}([0-9a-f]{16})$/

/** Reads a log's arguments, faster than ethers. Hex is lower case. Throws NODE_REFUSED for a malformed log. */
export function argumentsOf({ topics, data }: Pick<Log, 'topics' | 'data'>, topic: string): CompletionArguments {
  const isCompletion = topic === completedTopic
  const [signature, ...indexed] = topics
  const isWhole = signature?.toLowerCase() === topic && indexed.length === 3
  const values = isWhole ? argumentsIn([...indexed, data].join(' '), isCompletion ? completedForm : initiatedForm) : undefined
  if (values) return values
  const name = isCompletion ? 'BridgeTransferCompleted' : 'BridgeTransferInitiated'
  throw new RelayerError('NODE_REFUSED', { detail: `A node answered with a log that is not a ${name} event.` })
}
