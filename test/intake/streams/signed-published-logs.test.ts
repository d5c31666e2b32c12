import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlockRange, Published } from '../../../bridges/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { createPublishedLogs } from '../../../intake/streams/signed/gaps/published-logs.ts'

/** Numbers of each block, in rising order. Nodes refuse ranges of more than `most` blocks. */
function chain(
  blocks: readonly (readonly number[])[],
  { begins = {}, most = Infinity }: { begins?: { block?: number }; most?: number } = {},
) {
  const reads: BlockRange[] = []
  const source = {
    begins,
    async published(range: BlockRange, wanted: (number: string) => boolean = () => true): Promise<Published[]> {
      reads.push(range)
      const { fromBlock, toBlock } = range
      if (toBlock - fromBlock + 1 > most) throw new RelayerError('NODE_REFUSED', {})
      return blocks.slice(fromBlock, toBlock + 1).flatMap((numbers, index) =>
        numbers.map((one) => ({
          number: String(one),
          height: fromBlock + index,
          ...(wanted(String(one)) && { content: { kind: 'none' as const } }),
        })),
      )
    },
  }
  return { source, reads }
}

const sparse = (count: number) => Array.from({ length: count * 10 }, (_, height) => (height % 10 === 0 ? [height / 10] : []))

describe('missing numbers in the logs of the source', () => {
  test('logs are read from the newest block down, as far as the numbers may be', async () => {
    const { source, reads } = chain(sparse(100))
    const logs = createPublishedLogs({ source, rangeBlocks: 50 })
    const found = await logs.of(['97', '98'], 999)
    expect([...found].map(([number, { height }]) => [number, height])).toEqual([
      ['97', 970],
      ['98', 980],
    ])
    expect(reads.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
      [950, 999],
      [970, 970],
      [980, 980],
    ])
  })

  test('heights of numbers are remembered only by most of the nodes', async () => {
    const { source } = chain(sparse(100))
    const state = { agree: false, asked: [] as unknown[] }
    const published = async (range: BlockRange, wanted?: (number: string) => boolean, at?: 'agreed' | 'majority') => {
      state.asked.push(at)
      if (at === undefined) return []
      if (!state.agree) throw new RelayerError('NODES_DISAGREE', {})
      return source.published(range, wanted)
    }
    const logs = createPublishedLogs({ source: { ...source, published }, rangeBlocks: 50 })
    expect((await logs.of(['97'], 999)).size).toBe(0)
    state.agree = true
    expect((await logs.of(['97'], 999)).get('97')?.height).toBe(970)
    expect(state.asked).toEqual(['majority', 'majority', 'agreed'])
  })

  test('no block of logs is read twice', async () => {
    const { source, reads } = chain(sparse(100))
    const logs = createPublishedLogs({ source, rangeBlocks: 50 })
    await logs.of(['97'], 989)
    const before = reads.length
    await logs.of(['97'], 999)
    expect(reads.length).toBe(before)
    expect((await logs.of(['99'], 999)).has('99')).toBe(true)
    expect(reads.slice(before)).toEqual([
      { fromBlock: 990, toBlock: 999 },
      { fromBlock: 990, toBlock: 990 },
    ])
  })

  test('reading of logs stops at a lower number', async () => {
    const blocks = sparse(100).map((numbers) => numbers.filter((number) => number !== 97))
    const { source, reads } = chain(blocks)
    const logs = createPublishedLogs({ source, rangeBlocks: 50 })
    expect((await logs.of(['97'], 999)).size).toBe(0)
    expect(reads).toEqual([{ fromBlock: 950, toBlock: 999 }])
    await logs.of(['97'], 999)
    expect(reads).toHaveLength(1)
  })

  test('only the latest logs are read unless the config has a first block', async () => {
    const latest = chain(sparse(100))
    expect((await createPublishedLogs({ source: latest.source, rangeBlocks: 50 }).of(['2'], 999)).size).toBe(0)
    expect(latest.reads.at(-1)?.fromBlock).toBe(750)
    const all = chain(sparse(100), { begins: { block: 0 } })
    const logs = createPublishedLogs({ source: all.source, rangeBlocks: 50, reads: 7 })
    const found: boolean[] = []
    for (let count = 0; count < 3; count++) found.push((await logs.of(['2'], 999)).has('2'))
    expect(found).toEqual([false, false, true])
  })

  test('a refused range of logs is halved, and a refused single block is an error', async () => {
    const { source, reads } = chain(sparse(100), { most: 7 })
    expect((await createPublishedLogs({ source, rangeBlocks: 50 }).of(['99', '98'], 999)).size).toBe(2)
    expect(Math.min(...reads.map(({ fromBlock, toBlock }) => toBlock - fromBlock + 1))).toBeLessThanOrEqual(7)
    const none = chain(sparse(100), { most: 0 })
    await expect(createPublishedLogs({ source: none.source, rangeBlocks: 50 }).of(['99'], 999)).rejects.toMatchObject({
      code: 'NODE_REFUSED',
    })
  })

  test('every number of a growing chain is found in its logs', async () => {
    const blocksOf = (sizes: readonly number[]) => {
      let next = 0
      return sizes.map((size) => Array.from({ length: size }, () => next++))
    }
    const arbitrary = fc.record({
      sizes: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 60 }),
      asks: fc.array(fc.tuple(fc.nat(120), fc.nat(59)), { minLength: 1, maxLength: 12 }),
      rangeBlocks: fc.integer({ min: 1, max: 20 }),
      most: fc.integer({ min: 1, max: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ sizes, asks, rangeBlocks, most }) => {
        const blocks = blocksOf(sizes)
        const { source } = chain(blocks, { begins: { block: 0 }, most })
        const logs = createPublishedLogs({ source, rangeBlocks, reads: 1_000 })
        for (const [number, height] of asks.toSorted(([, a], [, b]) => a - b)) {
          const finalized = Math.min(height, blocks.length - 1)
          const expected = blocks.findIndex((one, at) => at <= finalized && one.includes(number))
          const found = (await logs.of([String(number)], finalized)).get(String(number))
          expect(found?.height ?? -1).toBe(expected)
        }
      }),
      { numRuns: 300 },
    )
  })
})
