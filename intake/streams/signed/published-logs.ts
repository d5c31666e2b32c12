import type { Published, SignedSource } from '../../../bridges/source-port.ts'
import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { addInterval, type IntervalSet, missingBetween } from '../../../domain/stream/intervals.ts'

export type PublishedLogs = ReturnType<typeof createPublishedLogs>

interface PublishedLogsOptions {
  readonly source: Pick<SignedSource, 'published' | 'begins'>
  /** Most blocks of one read. */
  readonly rangeBlocks: number
  /** Most reads at a time; where the config names a first block, the next call goes on below. */
  readonly reads?: number
}

/** Without a first block in the config, so many ranges below the head are looked at. */
const ranges = 5
/** That are kept, some 5 MB at most. */
const mostHeights = 50_000
const mostContents = 2_000

export function createPublishedLogs({ source, rangeBlocks, reads: mostReads = 20 }: PublishedLogsOptions) {
  const heights = new Map<string, number>()
  const contents = new Map<string, Published>()
  let scanned: IntervalSet = []
  let range = rangeBlocks

  /** From the newest unread block down, until all numbers are placed or are below everything that was read. */
  async function place(numbers: readonly string[], finalized: number): Promise<void> {
    const floor = source.begins.block ?? Math.max(0, finalized - ranges * rangeBlocks + 1)
    for (let reads = 0; reads < mostReads; reads++) {
      const unread = missingBetween(scanned, String(floor), String(finalized)).at(-1)
      const lowest = numbers.filter((number) => !heights.has(number)).map(BigInt)
      if (!unread || lowest.length === 0) return
      const toBlock = Number(unread[1])
      const above = [...heights].filter(([, height]) => height > toBlock).map(([number]) => BigInt(number))
      // Numbers rise with the blocks: below the lowest that was read there is nothing above it.
      if (above.length > 0 && lowest.every((number) => above.some((one) => one < number))) return
      if (!(await readRange(Math.max(Number(unread[0]), toBlock - range + 1), toBlock))) return
    }
  }

  /** By most of the nodes, since it is remembered: what one hides would stay hidden as long as the process runs. False: they do not agree now. */
  async function readRange(fromBlock: number, toBlock: number): Promise<boolean> {
    try {
      for (const { number, height } of await source.published({ fromBlock, toBlock }, () => false, 'majority')) heights.set(number, height)
    } catch (error) {
      const { code } = toRelayerError(error)
      if (code === 'NODES_DISAGREE') return false
      if (code !== 'NODE_REFUSED' || fromBlock === toBlock) throw error
      range = Math.max(1, Math.floor((toBlock - fromBlock + 1) / 2))
      return true
    }
    scanned = addInterval(scanned, String(fromBlock), String(toBlock))
    range = Math.min(rangeBlocks, range * 2)
    if (heights.size <= mostHeights) return true
    heights.clear()
    scanned = []
    return true
  }

  /** By more than half of the nodes, since what is no transfer is given up for good. Nothing where they do not agree. */
  async function agreedAt(height: number, wanted: ReadonlySet<string>): Promise<readonly Published[]> {
    try {
      return await source.published({ fromBlock: height, toBlock: height }, (number) => wanted.has(number), 'agreed')
    } catch (error) {
      if (toRelayerError(error).code === 'NODES_DISAGREE') return []
      throw error
    }
  }

  return {
    /**
     * What the source's blocks up to `finalized` say of these numbers, as far as they were found. Blocks are read once, from the newest down, and only as
     * far as a number may be. Throws what reads throw.
     */
    async of(numbers: readonly string[], finalized: number): Promise<ReadonlyMap<string, Published>> {
      await place(numbers, finalized)
      const wanted = new Set(numbers.filter((number) => !contents.has(number)))
      if (contents.size > mostContents) contents.clear()
      const places = new Set([...wanted].flatMap((number) => heights.get(number) ?? []))
      // Together: a single node is asked twice, a block apart.
      const found = await Promise.all([...places].map((height) => agreedAt(height, wanted)))
      for (const one of found.flat()) if (one.content) contents.set(one.number, one)
      return new Map(numbers.flatMap((number) => [contents.get(number) ?? []].flat()).map((one) => [one.number, one]))
    },
  }
}
