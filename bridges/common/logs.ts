import type { BlockRef, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { ContractReader } from './contract-reader.ts'

/** A log with its place on the chain. */
export interface PlacedLog extends Log {
  readonly block: BlockRef
  readonly transactionHash: string
}

/** Logs of one contract in a range of blocks, both ends included, that begin with these topics. */
export interface LogFilter {
  readonly address: string
  readonly topics: readonly string[]
  readonly fromBlock: number
  readonly toBlock: number
}

/** What a stream needs of a chain: reads of contracts, and logs in order. */
export interface LogReader extends ContractReader {
  /** Throws NODE_REFUSED (a range that is too long is for the caller to split), NODE_UNAVAILABLE; NODES_DISAGREE at `agreed`. */
  logs(filter: LogFilter, at?: 'agreed'): Promise<readonly PlacedLog[]>
}

/** Is a log of this contract, and does it begin with these topics? Both in lower case. */
export function isLogOf({ address, topics }: Pick<LogFilter, 'address' | 'topics'>) {
  return (log: Log): boolean =>
    log.address.toLowerCase() === address && topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic)
}

/** The logs of a filter. Throws what `logs` throws, and NODE_REFUSED for a log that was not asked for. */
export async function readLogs(chain: LogReader, filter: LogFilter, at?: 'agreed'): Promise<readonly PlacedLog[]> {
  const { fromBlock, toBlock } = filter
  const logs = await chain.logs(filter, at)
  const isMeant = isLogOf(filter)
  const stray = logs.find((log) => !isMeant(log) || log.block.height < fromBlock || log.block.height > toBlock)
  if (!stray) return logs
  const facts = { chain: chain.name, fromBlock, toBlock, address: stray.address, height: stray.block.height }
  throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log that was not asked for.', facts })
}
