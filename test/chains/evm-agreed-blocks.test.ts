import { describe, expect, test } from 'vitest'
import { type Lie, resealed, startThreeNodes, trueBlocks } from '../helpers/three-nodes.ts'

const lies: [string, Lie][] = [
  ['says that there is no block', () => null],
  ['shows a false parent', (block) => resealed({ ...block, parentHash: `0x${'ab'.repeat(32)}` })],
  ['shows another block of the chain', (block, height) => trueBlocks(height)[height - 1] ?? block],
]

describe('a final block that most nodes must show', () => {
  test.each(lies)('one node of three that %s does not decide which block is at a height', async (_, lie) => {
    const { chain, state, health } = await startThreeNodes(1_000)
    state.lie = lie
    const truth = trueBlocks(500)[500]
    expect(await chain.block(500, 'latest')).not.toMatchObject({ hash: truth?.hash, parentHash: truth?.parentHash })
    for (const at of ['majority', 'agreed'] as const)
      expect(await chain.block(500, at)).toMatchObject({ height: 500, hash: truth?.hash, parentHash: truth?.parentHash })
    expect(health()).toEqual([1, 2, 3].map(() => ['up', 0]))
  })

  test('a block that nodes disagree about is an error', async () => {
    const { chain, state } = await startThreeNodes(1_000, { count: 2 })
    state.lie = () => null
    await expect(chain.block(500, 'majority')).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
  })

  test.each([
    ['is not asked for on a chain that hashes headers as Ethereum does', { isOdd: false }, false],
    ['is asked for on a chain with other hashes, where a header does not prove its parent', { isOdd: true }, true],
    ['is not asked for on a chain with one node', { isOdd: true, count: 1 }, false],
  ])('a cached final block %s', async (_, options, isAsked) => {
    const { chain, state, grow, finalized } = await startThreeNodes(1_000, options)
    // The cache begins with the first head, so it has a final block only after some epochs.
    await grow(1_100)
    state.asked.length = 0
    const block = await chain.block(finalized(), 'majority')
    expect(block).toMatchObject({ hash: trueBlocks(1_100, options.isOdd)[finalized()]?.hash })
    expect(state.asked.includes(finalized())).toBe(isAsked)
  })

  test('a chain with one node is asked once about a final block that is not cached', async () => {
    const { chain, state } = await startThreeNodes(1_000, { count: 1 })
    expect(await chain.block(500, 'majority')).toMatchObject({ hash: trueBlocks(500)[500]?.hash })
    expect(state.asked.filter((height) => height === 500)).toHaveLength(1)
  })
})
