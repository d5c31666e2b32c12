import type { Heads } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { FoundDelivery } from '../port.ts'
import { completedTopic, type PlacedLog, showsCompletion } from './events.ts'
import type { NativeTransfer } from './message.ts'

/** What is read of a chain to find out who delivered. */
export interface LogReader {
  readonly heads: Pick<Heads, 'current'>
  logs(filter: { address: string; topics: readonly string[]; fromBlock: number; toBlock: number }): Promise<readonly PlacedLog[]>
  transactionSender(hash: string): Promise<string | undefined>
}

export interface FindDeliveryOptions {
  /** Blocks of one read. Default 2,000: many public nodes refuse more. */
  readonly rangeBlocks?: number
  /** How far back is looked. Default 10,000: who delivered is worth five reads, not a scan of the chain. */
  readonly depthBlocks?: number
}

/** Who delivered, by the contract's logs, newest range first. Undefined: not in the blocks that are looked at, or the node refuses such reads. */
export function createFindDelivery(chain: LogReader, { rangeBlocks = 2_000, depthBlocks = 10_000 }: FindDeliveryOptions = {}) {
  return async function findDelivery(
    bridge: string,
    { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>,
  ): Promise<FoundDelivery | undefined> {
    const latest = chain.heads.current?.latest.height
    if (latest === undefined) return undefined
    const lowest = Math.max(0, latest - depthBlocks + 1)
    try {
      for (let toBlock = latest; toBlock >= lowest; toBlock -= rangeBlocks) {
        const fromBlock = Math.max(lowest, toBlock - rangeBlocks + 1)
        const logs = await chain.logs({ address: bridge, topics: [completedTopic, id], fromBlock, toBlock })
        const log = logs.filter((each) => showsCompletion(each, { id, nonce })).at(-1)
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
