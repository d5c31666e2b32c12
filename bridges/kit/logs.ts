import type { Log, LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from './contract-reader.ts'

/** By more than half of the nodes. A single node is asked once at `majority`, twice at `agreed`. */
export type LogsAt = 'agreed' | 'majority'

export interface LogReader extends ContractReader {
  /** Throws NODE_REFUSED (the caller splits a long range), NODE_UNAVAILABLE, and with `at` NODES_DISAGREE. */
  logs(range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]>
}

/** Address and topics in lower case. */
export function isLogOf({ address, topics }: Pick<LogRange, 'address' | 'topics'>) {
  return (log: Log): boolean =>
    log.address.toLowerCase() === address && topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic)
}

/** Throws as `logs`, and NODE_REFUSED for a stray log. */
export async function readLogs(chain: LogReader, range: LogRange, at?: LogsAt): Promise<readonly PlacedLog[]> {
  const { fromBlock, toBlock } = range
  const logs = await chain.logs(range, at)
  const isMeant = isLogOf(range)
  const stray = logs.find((log) => !isMeant(log) || log.block.height < fromBlock || log.block.height > toBlock)
  if (!stray) return logs
  const facts = { chain: chain.name, fromBlock, toBlock, address: stray.address, height: stray.block.height }
  throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log outside the query.', facts })
}
