import { id } from 'ethers'
import type { WormholeChain } from '../../devnet/wormhole/wormhole.ts'
import { round } from '../statistics.ts'

/** `at`: time at which the block was seen, ms since the epoch. */
export interface DeliveryBlock {
  readonly at: number
  readonly deliveries: number
}

export interface DeliveryRates {
  /** Rate from `begin` to the block of the last delivery. */
  readonly perSecond: number
  /**
   * Rate from the first block with a delivery (whose deliveries do not count) to the last. Undefined with fewer than
   * two blocks.
   */
  readonly sustainedPerSecond: number | undefined
}

/**
 * Rates of the deliveries. The sustained rate starts and ends at a block, because all deliveries of a block happen at
 * once. Throws Error if there are no deliveries.
 */
export function deliveryRates(blocks: readonly DeliveryBlock[], begin: number): DeliveryRates {
  const filled = blocks.filter(({ deliveries }) => deliveries > 0).toSorted((a, b) => a.at - b.at)
  const [first, last] = [filled[0], filled.at(-1)]
  if (!first || !last) throw new Error('Nothing was delivered')
  const all = filled.reduce((sum, { deliveries }) => sum + deliveries, 0)
  const sustained = last.at > first.at ? round(((all - first.deliveries) * 1_000) / (last.at - first.at)) : undefined
  return { perSecond: round((all * 1_000) / Math.max(1, last.at - begin)), sustainedPerSecond: sustained }
}

export interface DeliveryWatch {
  readonly count: number
  readonly blocks: readonly DeliveryBlock[]
  /** Time of the last block with a delivery, or of the start, ms since the epoch. */
  readonly lastAt: number
  stop(): Promise<void>
}

const topic = id('TransferRedeemed(uint16,bytes32,uint64)')
const everyMs = 100

/** Counts the completed transfers of a chain's token bridge, starting with the next block. */
export async function watchDeliveries({ anvil, tokenBridge }: WormholeChain): Promise<DeliveryWatch> {
  const head = async () => Number(await anvil.rpc<string>('eth_blockNumber'))
  const blocks: DeliveryBlock[] = []
  let [seen, count, lastAt, stopped] = [await head(), 0, Date.now(), false]
  const hex = (height: number) => `0x${height.toString(16)}`
  const look = async () => {
    const [height, at] = [await head(), Date.now()]
    if (height <= seen) return
    const range = { fromBlock: hex(seen + 1), toBlock: hex(height) }
    const logs = await anvil.rpc<unknown[]>('eth_getLogs', [{ address: tokenBridge, topics: [topic], ...range }])
    seen = height
    if (logs.length === 0) return
    blocks.push({ at, deliveries: logs.length })
    count += logs.length
    lastAt = at
  }
  const watching = (async () => {
    while (!stopped) {
      // The next call of `look` repeats a failed request, because `seen` has not changed.
      await look().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  })()
  return {
    get count() {
      return count
    },
    blocks,
    get lastAt() {
      return lastAt
    },
    async stop() {
      stopped = true
      await watching
    },
  }
}
