import type { Interface, Result } from 'ethers'
import { type Heads, isLogOf, type Log, type LogRange, type PlacedLog, type Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from './contract-reader.ts'
import type { FoundDelivery } from '../port.ts'

/**
 * Most nodes must give the same answer. If the chain has only one node, this node must answer twice (`agreed`) or once
 * (`majority`).
 */
export type LogsAt = 'agreed' | 'majority'

export interface LogReader extends ContractReader {
  /** Throws NODE_REFUSED (the caller then splits a long range), NODE_UNAVAILABLE and, with `at`, NODES_DISAGREE. */
  logs(range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]>
}

/**
 * Reads logs, and decodes each of them. After a log outside the range, or a log that `decode` refuses, most nodes are
 * asked, so that a lying node cannot stop reads. Throws the errors of `logs` and `decode`, and NODE_REFUSED for a log
 * outside the range.
 */
export async function readLogs<T>(
  chain: LogReader,
  range: LogRange,
  at: LogsAt | undefined,
  decode: (log: PlacedLog) => T,
): Promise<readonly T[]> {
  const logs = await chain.logs(range, at)
  try {
    demandAsked(chain, range, logs)
    return logs.map(decode)
  } catch (error) {
    if (at !== undefined || !(error instanceof RelayerError)) throw error
    return readLogs(chain, range, 'majority', decode)
  }
}

function demandAsked({ name }: Pick<LogReader, 'name'>, range: LogRange, logs: readonly PlacedLog[]): void {
  const { fromBlock, toBlock } = range
  const isMeant = isLogOf(range)
  const stray = logs.find((log) => !isMeant(log) || log.block.height < fromBlock || log.block.height > toBlock)
  if (!stray) return
  const facts = { chain: name, fromBlock, toBlock, address: stray.address, height: stray.block.height }
  throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log outside the query.', facts })
}

/** Throws NODE_REFUSED if the log is of another event, or if it has a number that ethers would truncate. */
export function eventArguments({ name }: Pick<ContractReader, 'name'>, abi: Interface, event: string, log: Log): Result {
  try {
    const args = abi.decodeEventLog(event, log.data, log.topics)
    if (abi.encodeEventLog(event, args.toArray()).data === log.data.toLowerCase()) return args
  } catch {
    // Refused below.
  }
  throw new RelayerError('NODE_REFUSED', { detail: `A node answered with a log that is not a ${event} event.`, facts: { chain: name } })
}

export interface DeliveryLog extends Pick<LogRange, 'address' | 'topics'> {
  readonly shows?: (log: Log) => boolean
}

export function hasLog({ status, logs }: Receipt, { shows = () => true, ...wanted }: DeliveryLog): boolean {
  const isMeant = isLogOf(wanted)
  return status === 'success' && logs.some((log) => isMeant(log) && shows(log))
}

export interface DeliveryReader extends Pick<LogReader, 'logs'> {
  readonly heads: Pick<Heads, 'current'>
  transactionSender(hash: string): Promise<string | undefined>
}

/**
 * Searches the latest `depthBlocks` blocks for the log of a delivery. Undefined if none of them has the log, if the
 * sender is not known, or if a node refuses a request.
 */
export async function findDelivery(
  chain: DeliveryReader,
  { address, topics, shows = () => true }: DeliveryLog,
  { rangeBlocks = 2_000, depthBlocks = 10_000 } = {},
): Promise<FoundDelivery | undefined> {
  const latest = chain.heads.current?.latest.height
  if (latest === undefined) return undefined
  const lowest = Math.max(0, latest - depthBlocks + 1)
  try {
    for (let toBlock = latest; toBlock >= lowest; toBlock -= rangeBlocks) {
      const fromBlock = Math.max(lowest, toBlock - rangeBlocks + 1)
      const log = (await chain.logs({ address, topics, fromBlock, toBlock })).findLast(shows)
      if (!log) continue
      const by = await chain.transactionSender(log.transactionHash)
      return by === undefined
        ? undefined
        : { by: by.toLowerCase(), txHash: log.transactionHash, blockHeight: log.block.height, blockHash: log.block.hash }
    }
  } catch (error) {
    if (!(error instanceof RelayerError) || error.code !== 'NODE_REFUSED') throw error
  }
  return undefined
}
