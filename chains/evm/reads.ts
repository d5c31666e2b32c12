import { RelayerError } from '../../domain/errors.ts'
import type { At, BlockHeader, Chain, LogRange, PlacedLog } from '../port.ts'
import { blockCall, fetchBlock, readBlockIfAny } from './heads/blocks.ts'
import { toBytes, toList, toNumber, toQuantity, toRecord } from './hex.ts'
import type { Nodes } from './nodes/nodes.ts'
import type { Quorum } from './nodes/quorum.ts'
import { readLog } from './transactions/receipts.ts'

/** No pool keeps so many of one account (domain/lane/request.ts): a node that is so far above the others is wrong, and only it. */
const mostPending = 1_000

/** What a bridge reads of this family. All calls of a tick leave in one HTTP request. */
export interface BridgeReads {
  /** `eth_call`: the returned bytes. A revert too throws NODE_REFUSED. Throws NODE_UNAVAILABLE, NODES_DISAGREE (at `agreed`). */
  call(to: string, data: string, at: At): Promise<string>
  /** Logs in order. Throws NODE_REFUSED (split a range that is too long), NODE_UNAVAILABLE; at `agreed` (final blocks only) NODES_DISAGREE. */
  logs(range: LogRange, at?: 'agreed'): Promise<readonly PlacedLog[]>
  /** Sender of a mined transaction, lower case; undefined if the node knows none in a block. */
  transactionSender(hash: string): Promise<string | undefined>
}

type Reads = BridgeReads & Pick<Chain, 'pendingNonce' | 'agreedNonce' | 'hasCode' | 'block'>

/** Single reads of state, logs and transactions; `finalizedTag` is the block argument of a read at the finalized state. */
export function createReads(chain: string, nodes: Nodes, agree: Quorum, finalizedTag: () => string): Reads {
  return {
    async pendingNonce(address) {
      const answers = await nodes.askAll('eth_getTransactionCount', [address, 'pending'])
      const counts = answers.flatMap((answer) => (answer.ok ? [toNumber(answer.result, 'transaction count')] : []))
      if (counts.length * 2 > nodes.readers) return highestPlausible(counts)
      const detail = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message])).join('; ')
      throw new RelayerError('NODE_UNAVAILABLE', { detail, facts: { chain, nodes: nodes.readers, answered: counts.length } })
    },
    agreedNonce: (address) =>
      agree({
        about: `nonce ${address}`,
        method: 'eth_getTransactionCount',
        params: () => [address, finalizedTag()],
        read: (value) => toNumber(value, 'transaction count'),
      }),
    async hasCode(address) {
      return toBytes(await nodes.request('eth_getCode', [address, 'latest']), 'code') !== '0x'
    },
    async block(height, at) {
      if (at === 'latest') return toHeader(await fetchBlock(nodes, height))
      const read = (value: unknown) => toHeader(readBlockIfAny(value))
      return agree({ about: `block ${height}`, ...blockCall(height), read, key: (header) => header?.hash ?? 'none' })
    },
    async call(to, data, at) {
      const method = 'eth_call'
      const params = () => [{ to, data }, at === 'latest' || at === 'agreed-latest' ? 'latest' : finalizedTag()]
      const read = (value: unknown) => toBytes(value, 'returned bytes')
      if (at === 'latest' || at === 'finalized') return read(await nodes.request(method, params()))
      return agree({ about: `call ${at} ${to} ${data}`, method, params, read })
    },
    async logs({ address, topics, fromBlock, toBlock }, at) {
      const query = { address, topics, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
      const method = 'eth_getLogs'
      if (at !== 'agreed') return readLogs(await nodes.request(method, [query]))
      return agree({ about: `logs ${JSON.stringify(query)}`, method, params: () => [query], read: readLogs })
    },
    async transactionSender(hash) {
      const value = await nodes.request('eth_getTransactionByHash', [hash])
      if (value === null) return undefined
      const transaction = toRecord(value, 'transaction')
      return transaction['blockHash'] == null ? undefined : toBytes(transaction['from'], 'sender')
    },
  }
}

function toHeader(block: BlockHeader | undefined): BlockHeader | undefined {
  return block && { height: block.height, hash: block.hash, parentHash: block.parentHash, timestamp: block.timestamp }
}

function highestPlausible(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return Math.max(...sorted.filter((count) => count - middle <= mostPending))
}

function readLogs(result: unknown): readonly PlacedLog[] {
  return toList(result, 'logs')
    .map((value) => toRecord(value, 'log'))
    .filter((log) => log['removed'] !== true)
    .map((log) => ({
      ...readLog(log),
      block: { height: toNumber(log['blockNumber'], 'block number'), hash: toBytes(log['blockHash'], 'block hash') },
      transactionHash: toBytes(log['transactionHash'], 'transaction hash'),
    }))
}
