import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Logger } from '../../../observability/logger.ts'
import { fingerprint } from '../../crypto/fingerprint.ts'
import { boundedMap } from '../../../runtime/bounded-map.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { isLogOf, type LogRange, type PlacedLog } from '../../port.ts'
import { blockCall, readBlockIfAny } from '../heads/blocks.ts'
import { toHash, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { NotKnown, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Question, Quorum } from '../nodes/quorum.ts'
import { readLog } from './receipts.ts'

type LogsAt = 'agreed' | 'majority'

/**
 * Maximum JSON characters of the logs in an answer. It is below the node client's limit of 24 MiB, so that all nodes
 * agree on which answers are too long. No transaction of 2^24 gas (EIP-7825) exceeds it: 8 gas buy a byte of data,
 * which is two characters, and 375 gas buy a log.
 */
const mostCharacters = 20 * 1_024 * 1_024
const perLog = 450
const perTopic = 70

const tooLong = 'too long'
type Answer = readonly PlacedLog[] | typeof tooLong

const receiptsAtOnce = 20
/**
 * Maximum characters of logs that are kept in memory. They are kept because each transfer reads its block or
 * transaction again.
 */
const mostKept = 2 * mostCharacters
const keepMs = 60_000
const mostLogged = 1_000

interface InReceipts extends Pick<LogRange, 'transaction'> {
  readonly height: number
  readonly at: LogsAt
  /** Absent: all logs, so that requests of one transaction share them. */
  readonly wanted?: Pick<LogRange, 'address' | 'topics'>
}

/**
 * If nodes refuse the logs of a single block, its receipts are read instead, because strangers choose how long a
 * block's logs are. The logs of a single transaction are always read from its receipt.
 */
export function createLogReads(chain: string, nodes: Pick<Nodes, 'request'>, agree: Quorum, logger?: Pick<Logger, 'warn'>) {
  const kept = new LRUCache<string, readonly PlacedLog[], InReceipts>({
    ...{ maxSize: mostKept, sizeCalculation: charactersOf, ttl: keepMs, ignoreFetchAbort: true },
    fetchMethod: (_key, _before, { context }) => byReceipts(context),
  })
  const logged = boundedMap<string, true>(mostLogged)

  function ask<T>(question: Omit<Question<T>, 'once' | 'refusable'>, at: LogsAt): Promise<T> {
    return agree({ ...question, once: at === 'majority', refusable: true })
  }

  async function whole({ address, topics, fromBlock, toBlock }: LogRange, at: LogsAt | undefined): Promise<readonly PlacedLog[]> {
    const query = { address, topics, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
    const method = 'eth_getLogs'
    if (at === undefined) return nodes.request(method, [query], readLogs)
    const answer = await ask<Answer>(
      { about: `logs ${JSON.stringify(query)}`, method, params: () => [query], read: (value) => unlessTooLong(readLogs(value)), tooLong },
      at,
    )
    if (answer !== tooLong) return answer
    throw new RelayerError('NODE_REFUSED', { detail: 'The logs are too long for one answer.', facts: { chain, fromBlock, toBlock } })
  }

  /** Reads a block by its receipts, so that the long logs of one transaction do not hide other logs. */
  async function byReceipts({ height, at, transaction, wanted }: InReceipts): Promise<readonly PlacedLog[]> {
    const block = await ask(transactionsOf(height, transaction), at)
    const isWanted = wanted ? isLogOf(wanted) : () => true
    const found = await mapLimited(block.transactions, receiptsAtOnce, async (hash) => {
      const read = (value: unknown): Answer => {
        const logs = unlessTooLong(readLogsOf(value, { hash, block: block.hash }))
        return logs === tooLong ? logs : logs.filter(isWanted)
      }
      const about = `logs of ${hash} ${JSON.stringify(wanted)}`
      const key = (logs: Answer) => fingerprint(JSON.stringify(logs))
      const answer = await ask<Answer>({ about, method: 'eth_getTransactionReceipt', params: () => [hash], read, key, tooLong }, at)
      if (answer !== tooLong) return answer
      if (!logged.has(hash))
        logger?.warn('a transaction has more logs than are read; its requests and messages are skipped', {
          ...{ code: 'RECEIPT_TOO_LONG', chain, height, txHash: hash },
        })
      logged.set(hash, true)
      return []
    })
    return found.flat()
  }

  const keptByReceipts = (asked: InReceipts) => kept.forceFetch(JSON.stringify(asked), { context: asked })

  return async (range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]> => {
    const { address, topics, fromBlock: height, transaction } = range
    // Without `at`, the block may not be final, so nodes may know different blocks.
    const asked = { height, at: at ?? 'majority' }
    if (transaction !== undefined) return (await keptByReceipts({ ...asked, transaction })).filter(isLogOf(range))
    try {
      return await whole(range, at)
    } catch (error) {
      const isLimited = error instanceof RpcError && error.limited
      const isRefused = error instanceof RelayerError && error.code === 'NODE_REFUSED' && !isLimited
      if (!isRefused || range.fromBlock !== range.toBlock) throw error
      return keptByReceipts({ ...asked, wanted: { address, topics } }).catch((other: unknown) => {
        throw at === undefined ? error : other
      })
    }
  }
}

function charactersOf(logs: readonly PlacedLog[]): number {
  return logs.reduce((sum, { topics, data }) => sum + perLog + perTopic * topics.length + data.length, perLog)
}

function unlessTooLong(logs: readonly PlacedLog[]): Answer {
  return charactersOf(logs) > mostCharacters ? tooLong : logs
}

/** @param only hash of the only transaction to read. Undefined: all transactions */
function transactionsOf(height: number, only: string | undefined) {
  const read = (value: unknown): { readonly hash: string; readonly transactions: readonly string[] } => {
    const block = readBlockIfAny(value)
    if (!block) throw new NotKnown('knows no such block')
    return { hash: block.hash, transactions: block.transactions.filter((hash) => only === undefined || hash === only) }
  }
  return { about: `transactions of block ${height} ${only ?? ''}`, ...blockCall(height), read }
}

function readLogsOf(value: unknown, { hash, block }: { readonly hash: string; readonly block: string }): readonly PlacedLog[] {
  if (value === null) throw new NotKnown('knows no receipt')
  const { transactionHash, blockHash, logs } = toRecord(value, 'receipt')
  if (blockHash == null || toHash(blockHash, 'block hash') !== block || toHash(transactionHash, 'transaction hash') !== hash)
    throw new NotKnown('has no receipt of this block')
  return readLogs(logs)
}

function readLogs(value: unknown): readonly PlacedLog[] {
  return toList(value, 'logs')
    .map((one) => toRecord(one, 'log'))
    .filter((log) => log['removed'] !== true)
    .map((log) => ({
      ...readLog(log),
      block: { height: toNumber(log['blockNumber'], 'block number'), hash: toHash(log['blockHash'], 'block hash') },
      index: toNumber(log['logIndex'], 'log index'),
      transactionHash: toHash(log['transactionHash'], 'transaction hash'),
    }))
}
