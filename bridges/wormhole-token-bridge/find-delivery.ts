import { decodeBase64, id, toBeHex } from 'ethers'
import type { BlockRef, Heads } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import type { FoundDelivery } from '../port.ts'

/** What is read of a chain to find out who delivered. */
export interface LogReader {
  readonly heads: Pick<Heads, 'current'>
  logs(filter: {
    address: string
    topics: readonly string[]
    fromBlock: number
    toBlock: number
  }): Promise<readonly { readonly block: BlockRef; readonly transactionHash: string }[]>
  transactionSender(hash: string): Promise<string | undefined>
}

export interface FindDeliveryOptions {
  /** Blocks of one read. Default 2,000: many public nodes refuse more. */
  readonly rangeBlocks?: number
  /** How far back is looked. Default 10,000: who delivered is worth five reads, not a scan of the chain. */
  readonly depthBlocks?: number
}

/** topic0: 0xcaf280c8… */
const redeemedEvent = id('TransferRedeemed(uint16,bytes32,uint64)')

/** The topics of TransferRedeemed for this transfer: its event, the source's Wormhole chain id, emitter, sequence. */
export function redeemedTopics({ message, emitter, sequence }: Pick<Transfer, 'message' | 'emitter' | 'sequence'>): readonly string[] {
  const { emitterChain } = parseVaa(decodeBase64(message))
  return [redeemedEvent, toBeHex(emitterChain, 32), `0x${emitter}`, toBeHex(BigInt(sequence), 32)]
}

/** Who delivered, by the token bridge's logs, newest range first. Undefined: not in the blocks that are looked at, or the node refuses such reads. */
export function createFindDelivery(
  chain: LogReader,
  tokenBridge: string,
  { rangeBlocks = 2_000, depthBlocks = 10_000 }: FindDeliveryOptions = {},
) {
  return async function findDelivery(transfer: Transfer): Promise<FoundDelivery | undefined> {
    const topics = redeemedTopics(transfer)
    const latest = chain.heads.current?.latest.height
    if (latest === undefined) return undefined
    const lowest = Math.max(0, latest - depthBlocks + 1)
    try {
      for (let toBlock = latest; toBlock >= lowest; toBlock -= rangeBlocks) {
        const fromBlock = Math.max(lowest, toBlock - rangeBlocks + 1)
        const log = (await chain.logs({ address: tokenBridge, topics, fromBlock, toBlock })).at(-1)
        if (log) return await toDelivery(chain, log)
      }
    } catch (error) {
      if (!(error instanceof RelayerError) || error.code !== 'NODE_REFUSED') throw error
    }
    return undefined
  }
}

async function toDelivery(
  chain: LogReader,
  { transactionHash, block }: { transactionHash: string; block: BlockRef },
): Promise<FoundDelivery | undefined> {
  const by = await chain.transactionSender(transactionHash)
  return by === undefined ? undefined : { by: by.toLowerCase(), txHash: transactionHash, blockHeight: block.height, blockHash: block.hash }
}
