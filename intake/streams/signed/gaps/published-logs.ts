import type { Published, SignedSource } from '../../../../bridges/port.ts'
import { toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { addInterval, type IntervalSet, missingBetween } from '../../../../domain/stream/intervals.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'

export type PublishedLogs = ReturnType<typeof createPublishedLogs>

interface PublishedLogsOptions {
  readonly source: Pick<SignedSource, 'published' | 'begins'>
  readonly rangeBlocks: number
  /** Maximum ranges per call. The next call continues below them. */
  readonly reads?: number
}

const ranges = 5
/** Maximum entries of the two caches, which together take about 5 MB. */
const mostHeights = 50_000
const mostContents = 2_000

/** Finds numbers in the source's logs. The newest blocks are read first, and only as far back as needed. */
export function createPublishedLogs({ source, rangeBlocks, reads: mostReads = 20 }: PublishedLogsOptions) {
  const heights = new Map<string, number>()
  const contents = boundedMap<string, Published>(mostContents)
  let scanned: IntervalSet = []
  let range = rangeBlocks

  async function place(numbers: readonly string[], finalized: number): Promise<void> {
    const floor = source.begins.block ?? Math.max(0, finalized - ranges * rangeBlocks + 1)
    for (let reads = 0; reads < mostReads; reads++) {
      const unread = missingBetween(scanned, String(floor), String(finalized)).at(-1)
      const unplaced = numbers.filter((number) => !heights.has(number)).map(BigInt)
      if (!unread || unplaced.length === 0) return
      const toBlock = Number(unread[1])
      if (areAbove(unplaced, toBlock)) return
      if (!(await readRange(Math.max(Number(unread[0]), toBlock - range + 1), toBlock))) return
    }
  }

  function areAbove(numbers: readonly bigint[], block: number): boolean {
    const above = [...heights].filter(([, height]) => height > block).map(([number]) => BigInt(number))
    return above.length > 0 && numbers.every((number) => above.some((one) => one < number))
  }

  /**
   * Reads the numbers in a range. Most nodes must agree, because the result is kept. Returns false if they disagree.
   */
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
    if (heights.size > mostHeights) {
      heights.clear()
      scanned = []
    }
    return true
  }

  /** Reads the messages of a block. Most nodes must agree, because a number may be recorded as ignored for good. */
  function agreedAt(height: number, wanted: ReadonlySet<string>): Promise<readonly Published[]> {
    const reading = source.published({ fromBlock: height, toBlock: height }, (number) => wanted.has(number), 'agreed')
    return reading.catch((error: unknown) => {
      if (toRelayerError(error).code !== 'NODES_DISAGREE') throw error
      return []
    })
  }

  return {
    async of(numbers: readonly string[], finalized: number): Promise<ReadonlyMap<string, Published>> {
      await place(numbers, finalized)
      const wanted = new Set(numbers.filter((number) => !contents.has(number)))
      const places = new Set([...wanted].flatMap((number) => heights.get(number) ?? []))
      const read = (await Promise.all([...places].map((height) => agreedAt(height, wanted)))).flat()
      const found = new Map(numbers.flatMap((number) => contents.get(number) ?? []).map((one) => [one.number, one]))
      for (const one of read.filter(({ content }) => content)) {
        contents.set(one.number, one)
        if (wanted.has(one.number)) found.set(one.number, one)
      }
      return found
    },
  }
}
