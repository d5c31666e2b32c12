import type { BlockRange } from '../../bridges/port.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'

/**
 * Reads a range. If nodes refuse the range or disagree about it, its halves are read. Throws if this happens with a
 * single block, and throws all other errors.
 */
export async function inParts<T>(range: BlockRange, read: (range: BlockRange) => Promise<readonly T[]>): Promise<readonly T[]> {
  const { fromBlock, toBlock } = range
  try {
    return await read(range)
  } catch (error) {
    const { code } = toRelayerError(error)
    if ((code !== 'NODE_REFUSED' && code !== 'NODES_DISAGREE') || fromBlock === toBlock) throw error
    const middle = Math.floor((fromBlock + toBlock) / 2)
    return [...(await inParts({ fromBlock, toBlock: middle }, read)), ...(await inParts({ fromBlock: middle + 1, toBlock }, read))]
  }
}
