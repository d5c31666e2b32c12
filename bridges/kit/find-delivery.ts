import type { Heads, LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { FoundDelivery } from '../port.ts'
import type { LogReader } from './logs.ts'

export interface DeliveryLog extends Pick<LogRange, 'address' | 'topics'> {
  /** Absent: the topics suffice. */
  readonly shows?: (log: PlacedLog) => boolean
}

interface DeliveryReader extends Pick<LogReader, 'logs'> {
  readonly heads: Pick<Heads, 'current'>
  transactionSender(hash: string): Promise<string | undefined>
}

/** Newest first, `rangeBlocks` per read. Undefined: none in `depthBlocks`, or refused. Five reads at most. */
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
