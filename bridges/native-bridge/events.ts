import { id as topicOf } from 'ethers'
import type { Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type DeliveryLog, type LogReader, readLogs } from '../kit/logs.ts'
import type { BlockRange } from '../port.ts'
import { checkId, type CompletionArguments, type NativeTransfer, transferOfCompletion } from './message.ts'

export const initiatedTopic = topicOf('BridgeTransferInitiated(bytes32,address,bytes32,uint256,uint256)')
export const completedTopic = topicOf('BridgeTransferCompleted(bytes32,bytes32,address,uint256,uint256)')

/** Throws NATIVE_ID_MISMATCH and the errors of `readLogs`. Without `at`, one node may have invented the mismatch. */
export async function transfersIn(chain: LogReader, bridge: string, topic: string, range: BlockRange, at?: 'agreed') {
  const logs = await readLogs(chain, { address: bridge.toLowerCase(), topics: [topic], ...range }, at)
  return logs.map((log) => ({ transfer: checkId(transferOf(log, topic)), block: log.block, txHash: log.transactionHash }))
}

/** The log of a completion. A log that contradicts itself does not count, because a node invented it. */
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

const layouts = {
  [initiatedTopic]: { name: 'BridgeTransferInitiated', address: 2 },
  [completedTopic]: { name: 'BridgeTransferCompleted', address: 3 },
} as const

const logWords = { topics: /^0x[0-9a-f]{64}$/, data: /^0x[0-9a-f]{128}$/ }

/** Decodes a log faster than ethers. Hex is lower case. Throws NODE_REFUSED for a log or nonce of another form. */
export function argumentsOf({ topics, data }: Pick<Log, 'topics' | 'data'>, topic: keyof typeof layouts): CompletionArguments {
  const { name, address } = layouts[topic] ?? {}
  const [signature, ...indexed] = topics.map((one) => one.toLowerCase())
  const [id, from, to] = indexed.map((word, index) => (index + 1 === address ? addressOf(word) : word))
  const text = data.toLowerCase()
  const isWhole =
    signature === topic && indexed.length === 3 && indexed.every((one) => logWords.topics.test(one)) && logWords.data.test(text)
  const [amount, nonce] = isWhole ? [BigInt(`0x${text.slice(2, 66)}`), BigInt(`0x${text.slice(66)}`)] : [0n, 0n]
  if (!isWhole || id === undefined || from === undefined || to === undefined || nonce >= 2n ** 64n)
    throw new RelayerError('NODE_REFUSED', { detail: `A node answered with a log that is no ${name}.` })
  return [id, from, to, amount, nonce]
}

function addressOf(word: string): string | undefined {
  return word.startsWith(`0x${'0'.repeat(24)}`) ? `0x${word.slice(26)}` : undefined
}
