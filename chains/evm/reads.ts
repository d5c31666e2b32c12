import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { medianOf } from '../heads.ts'
import type { At, BlockHeader, Chain, LogRange, PlacedLog } from '../port.ts'
import { blockCall, fetchBlock, readBlockIfAny } from './heads/blocks.ts'
import { readCount, toAddress, toBytes, toDecimal, toHash, toQuantity, toRecord } from './hex.ts'
import type { EvmHeads } from './heads/heads.ts'
import { createLogsBloom } from './heads/logs-bloom.ts'
import { type Call, type NodeAnswer, type Nodes, resultsOf } from './nodes/nodes.ts'
import { isVerdict } from './nodes/node-errors.ts'
import type { Quorum } from './nodes/quorum.ts'
import { createLogReads } from './transactions/logs.ts'

/**
 * Maximum number of pending transactions that a pool holds for an account. A count that is further above the median is
 * ignored.
 */
const mostPending = 1_000

const transactionCount = 'eth_getTransactionCount'

const balanceOfSelector = '0x70a08231'

/**
 * Reads made at the same time share one HTTP request. Contract reads share a second request, and one `eth_call` per
 * block. Reads of logs share a third request.
 */
export interface BridgeReads {
  /**
   * Returns bytes, 0x, lower case. If the call reverts at the only node that `at` asks, the other nodes are asked, too.
   * Throws NODE_REFUSED for a revert, NODE_UNAVAILABLE, NODES_DISAGREE (see `At`).
   */
  call(to: string, data: string, at: At): Promise<string>
  /**
   * With `at`, the blocks must be final, and most nodes must agree. If the chain has only one node, this node must
   * answer twice (`agreed`) or once (`majority`). If nodes refuse a single block, its logs are read from receipts,
   * except from receipts that are too long for most nodes (RECEIPT_TOO_LONG). Throws NODE_REFUSED (for a long range),
   * NODE_UNAVAILABLE and, with `at`, NODES_DISAGREE.
   */
  logs(range: LogRange, at?: 'agreed' | 'majority'): Promise<readonly PlacedLog[]>
  /** Lower case. Undefined if the node does not know a block with the transaction. */
  transactionSender(hash: string): Promise<string | undefined>
}

type Reads = BridgeReads & Pick<Chain, 'balanceOf' | 'pendingNonce' | 'agreedNonce' | 'hasCode' | 'block'>

export function createReads(
  chain: string,
  nodes: Nodes,
  heads: EvmHeads,
  agree: Quorum,
  finalizedTag: () => string,
  log: Pick<Logger, 'warn'> | undefined,
): Reads {
  const readLogs = createLogReads(chain, nodes, agree, log)
  const { kept, check } = heads
  const finalized = () => heads.current?.finalized ?? -1
  const finalBlock = (height: number) => (height <= finalized() ? kept.at(height) : undefined)
  const bloom = createLogsBloom(kept, check, finalized)
  return {
    balanceOf: (address, token) => balanceOf(agree, address, token),
    async pendingNonce(address) {
      const answers = await nodes.askAll(transactionCount, [address, 'pending'], readCount)
      const counts = resultsOf(answers)
      if (counts.length * 2 > nodes.readers) return highestPlausible(counts)
      const detail = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message])).join('; ')
      throw new RelayerError('NODE_UNAVAILABLE', { detail, facts: { chain, nodes: nodes.readers, answered: counts.length } })
    },
    agreedNonce: (address) =>
      agree({ about: `nonce ${address}`, method: transactionCount, params: () => [address, finalizedTag()], read: readCount }),
    hasCode: (address, during) => hasCode(agree, address, during),
    async block(height, at) {
      // Only checked hashes link a cached block to the final block that most nodes have shown.
      const isKeptAgreed = check.kind === 'checked' || nodes.readers === 1
      const known = at === 'latest' || (at === 'majority' && isKeptAgreed) ? finalBlock(height) : undefined
      if (known || at === 'latest') return toHeader(known ?? (await fetchBlock(nodes, height, check)))
      const read = (value: unknown) => toHeader(readBlockIfAny(value))
      return agree({ about: `block ${height}`, ...blockCall(height), read, once: at === 'majority' })
    },
    async call(to, data, at) {
      const method = 'eth_call'
      const params = () => [{ to, data }, at === 'finalized' || at === 'agreed' ? finalizedTag() : 'latest']
      const read = (value: unknown) => toBytes(value, 'returned bytes')
      if (at === 'latest' || at === 'finalized') {
        return nodes
          .request(method, params(), read)
          .catch((error: unknown) => unlessFewFail(nodes, { method, params: params(), read }, error))
      }
      return agree({ about: `call ${at} ${to} ${data}`, method, params, read, once: at === 'majority-latest' })
    },
    logs: async (range, at) => (bloom.proveNone(range) ? [] : readLogs(range, at)),
    transactionSender: (hash) => nodes.request('eth_getTransactionByHash', [hash], readMinedSender),
  }
}

function balanceOf(agree: Quorum, address: string, token: string | undefined): Promise<string> {
  const about = { about: `balance ${address} ${token ?? ''}`, once: true, refusable: true }
  if (token === undefined)
    return agree({ ...about, method: 'eth_getBalance', params: () => [address, 'latest'], read: (value) => toDecimal(value, 'balance') })
  const data = `${balanceOfSelector}${address.slice(2).toLowerCase().padStart(64, '0')}`
  const read = (value: unknown) => toDecimal(toHash(value, 'balance'), 'balance')
  return agree({ ...about, method: 'eth_call', params: () => [{ to: token, data }, 'latest'], read })
}

/**
 * Whether the account has code. Also true if the transaction count changed in the block `during`, because EIP-7702 may
 * add and remove code within one block.
 */
async function hasCode(agree: Quorum, address: string, during?: number): Promise<boolean> {
  const ask = <T>(method: string, block: string, read: (value: unknown) => T) =>
    agree({ about: `${method} ${address} ${block}`, method, params: () => [address, block], read, once: true, refusable: true })
  const isCode = (value: unknown) => toBytes(value, 'code') !== '0x'
  const latest = () => ask('eth_getCode', 'latest', isCode)
  if (during === undefined) return latest()
  const blocks = [toQuantity(Math.max(0, during - 1)), toQuantity(during)]
  const codes = Promise.all(blocks.map((block) => ask('eth_getCode', block, isCode)))
  const counts = Promise.all(blocks.map((block) => ask(transactionCount, block, readCount)))
  try {
    const [found, [before, after]] = await Promise.all([codes, counts])
    return found.includes(true) || before !== after
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'NODE_REFUSED') return latest()
    throw error
  }
}

/** Asks all nodes about a call that fails at one node, because a lying node must not stop deliveries. */
async function unlessFewFail<T>(nodes: Nodes, { method, params, read }: Call<T>, first: unknown): Promise<T> {
  if (nodes.readers === 1 || !isVerdict(first)) throw first
  const failed = (answers: readonly NodeAnswer<T>[]) => answers.filter((answer) => !answer.ok && isVerdict(answer.error)).length
  const isDecided = (_: unknown, answers: readonly NodeAnswer<T>[]) =>
    failed(answers) >= nodes.needed || answers.length - failed(answers) > nodes.readers - nodes.needed
  const answers = await nodes.askAll(method, params, read, isDecided)
  const other = answers.find((answer) => answer.ok)
  if (!other || failed(answers) >= nodes.needed) throw first
  return other.result
}

function toHeader(block: BlockHeader | undefined): BlockHeader | undefined {
  return block && { height: block.height, hash: block.hash, parentHash: block.parentHash, timestamp: block.timestamp }
}

function highestPlausible(counts: readonly number[]): number {
  const middle = medianOf(counts) ?? 0
  return Math.max(...counts.filter((count) => count - middle <= mostPending))
}

function readMinedSender(value: unknown): string | undefined {
  if (value === null) return undefined
  const transaction = toRecord(value, 'transaction')
  return transaction['blockHash'] == null ? undefined : toAddress(transaction['from'], 'sender')
}
