import type { BlockRef, Log } from '../port.ts'
import { toBytes, toList, toNumber, toQuantity, toRecord } from './hex.ts'
import type { Nodes } from './nodes/nodes.ts'
import type { Quorum } from './nodes/quorum.ts'
import { readLog } from './transactions/receipts.ts'

export interface LogFilter {
  readonly address: string
  /** By position; null matches anything, a list matches any of its values. */
  readonly topics: readonly (string | null | readonly string[])[]
  /** Heights, both included; the latest block if `toBlock` is absent. */
  readonly fromBlock: number
  readonly toBlock?: number
}

/** A log with its place on the chain. */
export interface FoundLog extends Log {
  readonly block: BlockRef
  readonly transactionHash: string
  readonly logIndex: number
}

/** `eth_getLogs`, as the node limits it: a range that is too long is refused (NODE_REFUSED) and must be split by the caller. */
export async function readLogs(nodes: Nodes, filter: LogFilter): Promise<readonly FoundLog[]> {
  return toLogs(await nodes.request(method, [toQuery(filter)]))
}

/**
 * The same logs in the same blocks by the word of more than half of the nodes: what makes sense of final blocks only. Throws NODES_DISAGREE, also where
 * nodes refuse a range that is too long for them.
 */
export function agreedLogs(agree: Quorum, filter: LogFilter): Promise<readonly FoundLog[]> {
  const query = toQuery(filter)
  return agree({ about: `logs ${JSON.stringify(query)}`, method, params: () => [query], read: toLogs })
}

const method = 'eth_getLogs'

function toQuery({ address, topics, fromBlock, toBlock }: LogFilter) {
  return { address, topics, fromBlock: toQuantity(fromBlock), toBlock: toBlock === undefined ? 'latest' : toQuantity(toBlock) }
}

function toLogs(result: unknown): readonly FoundLog[] {
  return toList(result, 'logs')
    .map((value) => toRecord(value, 'log'))
    .filter((log) => log['removed'] !== true)
    .map((log) => ({
      ...readLog(log),
      block: { height: toNumber(log['blockNumber'], 'block number'), hash: toBytes(log['blockHash'], 'block hash') },
      transactionHash: toBytes(log['transactionHash'], 'transaction hash'),
      logIndex: toNumber(log['logIndex'], 'log index'),
    }))
}
