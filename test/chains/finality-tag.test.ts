import { expect, test } from 'vitest'
import { createFinalityTag } from '../../chains/evm/finality-tag.ts'
import type { Nodes } from '../../chains/evm/nodes.ts'

const hashOf = (branch: string, height: number) => `0x${branch}${String(height).padStart(63, '0')}`
const block = (branch: string, height: number) => ({ height, hash: hashOf(branch, height) })
/** As a node answers. */
const raw = (branch: string, height: number) => ({
  number: `0x${height.toString(16)}`,
  hash: hashOf(branch, height),
  parentHash: hashOf(branch, height - 1),
  timestamp: '0x1',
  gasLimit: '0x1c9c380',
  transactions: [],
})

/** Nodes on branches of their own, each with its finalized height. What we keep is of the branch `ours`. */
function setting(nodes: readonly { branch: string; final: number }[]) {
  const kept = { branch: 'a' }
  const rises: number[] = []
  const askAll = async (_: string, [which]: readonly unknown[]) =>
    nodes.map(({ branch, final }) => ({ node: branch, ok: true, result: raw(branch, which === 'finalized' ? final : Number(which)) }))
  const tag = createFinalityTag(
    { readers: nodes.length, askAll } as unknown as Nodes,
    (height) => hashOf(kept.branch, height),
    (height) => void rises.push(height),
  )
  return { tag, kept, rises }
}

test('a height is final where the block that is tagged is the one that we keep', async () => {
  const { tag, rises } = setting([
    { branch: 'a', final: 58 },
    { branch: 'a', final: 59 },
    { branch: 'a', final: 57 },
  ])
  expect(await tag.update(block('a', 58))).toBe(58)
  expect(rises).toEqual([58])
})

test.each([1, 3])(
  'after a fork that was not followed yet, ours is final on no node (%i of them); once it is followed, the new one is',
  async (count) => {
    const { tag, kept } = setting(Array.from({ length: count }, () => ({ branch: 'b', final: 58 })))
    expect(await tag.update(block('b', 58))).toBeUndefined()
    kept.branch = 'b'
    expect(await tag.update(block('b', 58))).toBe(58)
  },
)

test('one node of three on a branch of its own keeps nothing from being final', async () => {
  const { tag } = setting([
    { branch: 'a', final: 58 },
    { branch: 'b', final: 58 },
    { branch: 'a', final: 58 },
  ])
  expect(await tag.update(block('b', 58))).toBe(58)
})
