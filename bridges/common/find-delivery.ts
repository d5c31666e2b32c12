import type { BlockRef, Heads, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { FoundDelivery } from '../port.ts'

/** A log with its place on the chain. */
export interface PlacedLog extends Log {
  readonly block: BlockRef
  readonly transactionHash: string
}

/** What is read of a chain to find a delivery. */
export interface LogReader {
  readonly heads: Pick<Heads, 'current'>
  logs(filter: { address: string; topics: readonly string[]; fromBlock: number; toBlock: number }): Promise<readonly PlacedLog[]>
  transactionSender(hash: string): Promise<string | undefined>
}

export interface FindDeliveryOptions {
  /** Blocks of one read. Default 2,000: many public nodes refuse more. */
  readonly rangeBlocks?: number
  /** How far back is looked. Default 10,000: the deliverer's name is worth five reads, not a scan of the chain. */
  readonly depthBlocks?: number
}

/** The log that shows a delivery. */
export interface DeliveryLog {
  readonly address: string
  readonly topics: readonly string[]
  /** Absent: the topics say it all. */
  readonly shows?: (log: PlacedLog) => boolean
}

/** Finds a delivery in the contract's logs, newest range first. Undefined: not in the blocks that are looked at, or the node refuses such reads. */
export function createFindDelivery(chain: LogReader, { rangeBlocks = 2_000, depthBlocks = 10_000 }: FindDeliveryOptions = {}) {
  return async function findDelivery({ address, topics, shows = () => true }: DeliveryLog): Promise<FoundDelivery | undefined> {
    const latest = chain.heads.current?.latest.height
    if (latest === undefined) return undefined
    const lowest = Math.max(0, latest - depthBlocks + 1)
    try {
      for (let toBlock = latest; toBlock >= lowest; toBlock -= rangeBlocks) {
        const fromBlock = Math.max(lowest, toBlock - rangeBlocks + 1)
        const log = (await chain.logs({ address, topics, fromBlock, toBlock })).findLast(shows)
        if (log) return await toDelivery(chain, log)
      }
    } catch (error) {
      if (!(error instanceof RelayerError) || error.code !== 'NODE_REFUSED') throw error
    }
    return undefined
  }
}

async function toDelivery(chain: LogReader, { transactionHash, block }: PlacedLog): Promise<FoundDelivery | undefined> {
  const by = await chain.transactionSender(transactionHash)
  return by === undefined ? undefined : { by: by.toLowerCase(), txHash: transactionHash, blockHeight: block.height, blockHash: block.hash }
}
