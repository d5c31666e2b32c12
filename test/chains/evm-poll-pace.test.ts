import { describe, expect, test } from 'vitest'
import { createPollPace } from '../../chains/evm/heads/poll-pace.ts'

/** Polls until the last block, and returns the polls per block, and the highest and the average delay (ms). */
function run(blockTimeMs: number, blocks: readonly number[], skip = 20) {
  let now = 0
  const pace = createPollPace(blockTimeMs, () => now)
  let height = 0
  let polls = 0
  const late: number[] = []
  while (height < blocks.length) {
    const head = blocks.findLastIndex((at) => at <= now) + 1
    for (const at of blocks.slice(height, head)) late.push(now - at)
    height = head
    if (height > skip) polls++
    now += pace.after(now, height)
  }
  const counted = late.slice(skip)
  return {
    perBlock: polls / (blocks.length - skip),
    mean: counted.reduce((sum, ms) => sum + ms, 0) / counted.length,
    most: Math.max(...counted),
  }
}
const regular = (count: number, ms: number, jitter = 0) => {
  let seed = 7
  const random = () => ((seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647) * jitter
  return Array.from({ length: count }, (_, index) => (index + 1) * ms + random())
}

describe('the pace of polls', () => {
  test.each([
    ['of a second', 1_000, 1_000],
    ['of half a second', 500, 500],
    ['of twelve seconds', 12_000, 12_000],
    ['faster than the config says', 2_000, 1_700],
    ['slower than the config says', 1_000, 1_300],
  ])('regular blocks, %s: hardly more than a poll for each, and seen sooner than by two', (_, configured, ms) => {
    const { perBlock, mean, most } = run(configured, regular(400, ms))
    // Before a block is due, the interval between polls is at most twice the usual one.
    const each = 1.5 + Math.floor((ms - 1) / Math.min(8_000, configured))
    expect(perBlock).toBeLessThan(each)
    expect(mean).toBeLessThan(ms / 8)
    expect(most).toBeLessThan(ms / 2)
  })

  test('blocks that are a little early or late are seen soon, in few polls', () => {
    const { perBlock, mean } = run(1_000, regular(400, 1_000, 80))
    expect(perBlock).toBeLessThan(2)
    expect(mean).toBeLessThan(250)
  })

  test('a chain with irregular blocks is polled like a chain of which nothing is known', () => {
    let at = 0
    const blocks = regular(400, 0, 2_000).map((wait) => (at += wait))
    const { perBlock, mean } = run(1_000, blocks)
    expect(perBlock).toBeLessThan(2.5)
    expect(mean).toBeLessThan(350)
  })

  test('a regular chain that stops is polled twice per block after some quick polls, then as before', () => {
    const before = regular(50, 1_000)
    const after = before.map((at) => at + 60_000)
    const { most, perBlock } = run(1_000, [...before, ...after])
    expect(most).toBeLessThanOrEqual(500)
    // The limit includes the 120 polls of the minute without blocks.
    expect(perBlock).toBeLessThan(3.4)
  })

  test('a burst after regular blocks is seen after two usual intervals at the latest', () => {
    const before = regular(50, 12_000)
    const [last = 0] = before.slice(-1)
    expect(run(12_000, [...before, last + 100, last + 200, last + 300]).most).toBeLessThanOrEqual(8_000)
  })

  test('after the head of a chain has become lower, its measured pace no longer counts', () => {
    const pace = createPollPace(1_000, () => 0)
    for (let height = 1; height < 20; height++) pace.after(height * 1_000, height)
    expect(pace.after(20_000, 5)).toBe(20_500)
  })
})
