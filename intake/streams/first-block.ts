import type { Chain } from '../../chains/port.ts'

type At = 'latest' | 'agreed'

/**
 * Height of the first block since `time` (ms since the epoch), or `end`. A pruned block counts as earlier. Asks one
 * node. If most nodes contradict the result, searches again and asks most nodes.
 */
export async function firstSince(chain: Pick<Chain, 'block'>, time: number, end: number): Promise<number> {
  const isSince = async (height: number, at: At) => {
    const header = await chain.block(height, at)
    return header !== undefined && header.timestamp * 1_000 >= time
  }
  const found = await search(end, (height) => isSince(height, 'latest'))
  const [isAbove, isBelow] = await Promise.all([found === end || isSince(found, 'agreed'), found > 0 && isSince(found - 1, 'agreed')])
  return isAbove && !isBelow ? found : search(end, (height) => isSince(height, 'agreed'))
}

async function search(end: number, isSince: (height: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, end]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await isSince(middle)) high = middle
    else low = middle + 1
  }
  return low
}
