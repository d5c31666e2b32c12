import { expect, test } from 'vitest'
import { createFinalityTag } from '../../chains/evm/heads/finality-tag.ts'
import { createBlockCache } from '../../chains/evm/heads/block-cache.ts'
import { readBlock } from '../../chains/evm/heads/blocks.ts'

const hashOf = (branch: string, height: number) => `0x${branch}${String(height).padStart(63, '0')}`
const block = (branch: string, height: number) => ({ height, hash: hashOf(branch, height) })
const raw = (branch: string, height: number) => ({
  number: `0x${height.toString(16)}`,
  hash: hashOf(branch, height),
  parentHash: hashOf(branch, height - 1),
  timestamp: '0x1',
  gasLimit: '0x1c9c380',
  transactions: [],
})

/** A tag with the given nodes, and a cache with the blocks of branch `a` from 50 to `head`. */
function setting(nodes: readonly { branch: string; final: number }[], head = 60) {
  const kept = createBlockCache()
  const rises: number[] = []
  const askAll = async <T>(_: string, [which]: readonly unknown[], read: (value: unknown) => T) =>
    nodes.map(({ branch, final }) => ({
      ...{ node: branch, name: branch, ok: true as const },
      result: read(raw(branch, which === 'finalized' ? final : Number(which))),
    }))
  const tag = createFinalityTag(
    { readers: nodes.length, needed: Math.floor(nodes.length / 2) + 1, askAll },
    kept,
    (height) => void rises.push(height),
  )
  const follow = (branch: string, from: number, to: number) => {
    kept.rollBackTo(-1)
    kept.append(Array.from({ length: to - from + 1 }, (_, index) => readBlock(raw(branch, from + index))))
  }
  follow('a', 50, head)
  return { tag, follow, rises }
}

const all = (branch: string, final: number, count = 3) => Array.from({ length: count }, () => ({ branch, final }))

test('a height is final if the tagged block is the cached one', async () => {
  const { tag, rises } = setting([
    { branch: 'a', final: 58 },
    { branch: 'a', final: 59 },
    { branch: 'a', final: 57 },
  ])
  expect(await tag.update(block('a', 58))).toBe(58)
  expect(rises).toEqual([58])
})

test.each([1, 3])('during a fork on %i nodes the cached block is not final; after it, the new one is', async (count) => {
  const { tag, follow } = setting(all('b', 58, count))
  expect(await tag.update(block('b', 58))).toBeUndefined()
  follow('b', 50, 60)
  expect(await tag.update(block('b', 58))).toBe(58)
})

test.each([1, 3])('a head below the tag that none of %i nodes has is not final until the fork is followed', async (count) => {
  const { tag, follow } = setting(all('b', 63, count), 61)
  expect(await tag.update(block('b', 63))).toBeUndefined()
  follow('b', 50, 64)
  expect(await tag.update(block('b', 63))).toBe(63)
})

test.each([1, 3])('a head below the tag is final where the nodes have it (%i of them), and nothing above it', async (count) => {
  const { tag, follow, rises } = setting(all('a', 63, count), 61)
  expect(await tag.update(block('a', 63))).toBe(61)
  follow('a', 50, 70)
  await tag.update(block('a', 63))
  await expect.poll(() => rises).toEqual([61, 63])
})

test('a tag below all cached blocks makes no cached block final', async () => {
  const { tag, follow } = setting(all('b', 40))
  follow('a', 60, 60)
  expect(await tag.update(block('b', 40))).toBe(40)
})

test('one node of three on a branch of its own keeps nothing from being final', async () => {
  const { tag } = setting([
    { branch: 'a', final: 58 },
    { branch: 'b', final: 58 },
    { branch: 'a', final: 58 },
  ])
  expect(await tag.update(block('b', 58))).toBe(58)
})
