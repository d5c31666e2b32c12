import type { Log, LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from './contract-reader.ts'

/** Whose word logs are; absent: one node's. Both are for final blocks, by more than half of the nodes; at `majority` one node is believed at its first word. */
export type LogsAt = 'agreed' | 'majority'

/** What a stream needs of a chain: reads of contracts, and logs in order. */
export interface LogReader extends ContractReader {
  /** Throws NODE_REFUSED (a range that is too long is for the caller to split), NODE_UNAVAILABLE; NODES_DISAGREE at `agreed` and `majority`. */
  logs(range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]>
}

/** Is a log of this contract, and does it begin with these topics? Both in lower case. */
export function isLogOf({ address, topics }: Pick<LogRange, 'address' | 'topics'>) {
  return (log: Log): boolean =>
    log.address.toLowerCase() === address && topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic)
}

/** The logs of a range. Throws what `logs` throws, and NODE_REFUSED for a log that was not asked for. */
export async function readLogs(chain: LogReader, range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]> {
  const { fromBlock, toBlock } = range
  const logs = await chain.logs(range, at)
  const isMeant = isLogOf(range)
  const stray = logs.find((log) => !isMeant(log) || log.block.height < fromBlock || log.block.height > toBlock)
  if (!stray) return logs
  const facts = { chain: chain.name, fromBlock, toBlock, address: stray.address, height: stray.block.height }
  throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log that was not asked for.', facts })
}
