import type { BlockRef, Log } from '../port.ts'
import { toBytes, toList, toNumber, toQuantity, toRecord } from './hex.ts'
import type { Nodes } from './nodes.ts'
import { readLog } from './receipts.ts'

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
  const toBlock = filter.toBlock === undefined ? 'latest' : toQuantity(filter.toBlock)
  const query = { address: filter.address, topics: filter.topics, fromBlock: toQuantity(filter.fromBlock), toBlock }
  const values = toList(await nodes.request('eth_getLogs', [query]), 'logs')
  return values
    .map((value) => toRecord(value, 'log'))
    .filter((log) => log['removed'] !== true)
    .map((log) => ({
      ...readLog(log),
      block: { height: toNumber(log['blockNumber'], 'block number'), hash: toBytes(log['blockHash'], 'block hash') },
      transactionHash: toBytes(log['transactionHash'], 'transaction hash'),
      logIndex: toNumber(log['logIndex'], 'log index'),
    }))
}
