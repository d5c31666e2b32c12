import { describe, expect, test } from 'vitest'
import type { EvmChain, EvmChainOptions } from '../../chains/evm/index.ts'
import type { HeadEvent } from '../../chains/port.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { inclusion } from '../helpers/inclusions.ts'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

/** A block is final when it has this number of blocks above it. */
const depth = 6

describe('forks, late nodes and chains that stop', () => {
  const { anvil, connectBehind } = evmSetting(20)
  let account = 20

  async function connected(count: number, options: Partial<EvmChainOptions> = {}) {
    const { chain, behind } = await connectBehind(count, { finality: { kind: 'depth', blocks: depth }, ...options })
    const events: HeadEvent[] = []
    chain.heads.subscribe((event) => events.push(event))
    return { chain, events, behind }
  }

  const height = async () => Number(await anvil.rpc<string>('eth_blockNumber'))

  async function caughtUp(chain: EvmChain): Promise<HeadEvent> {
    const { hash } = await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    return head(chain, ({ latest }) => latest.hash === hash)
  }

  /** Prefix of the hashes on a fork. No true hash begins with it by chance. */
  const forkMark = '0xffffffffffff'

  /** Makes the node show different hashes for all blocks at or above this height. */
  function forkAlone(node: RpcProxy, from: number): void {
    const other = (hash: string) => `${forkMark}${hash.slice(forkMark.length)}`
    node.alter = (method, result) => {
      const block = result as { number: string; hash: string; parentHash: string } | null
      if (method !== 'eth_getBlockByNumber' || !block || Number(block.number) < from) return undefined
      const parentHash = Number(block.number) > from ? other(block.parentHash) : block.parentHash
      return { ...block, hash: other(block.hash), parentHash }
    }
  }

  test.each([1, 2, 3, 4, 5, 6])(
    'a fork of depth %i by evm_revert is reported whole once it is longer, and no final block goes',
    async (blocks) => {
      const { chain, events } = await connected(1)
      const signer = await devnetSigner(account++)
      const snapshot = await anvil.rpc('evm_snapshot')
      const { raw, hash } = await signer.sign(payment(signer, 0))
      await chain.send(raw)
      const watch = chain.watch([hash])
      await anvil.mine(blocks)
      const before = await caughtUp(chain)
      await inclusion(watch, ({ kind }) => kind === 'included')
      await anvil.rpc('evm_revert', [snapshot])
      await anvil.rpc('evm_increaseTime', [500])
      await anvil.mine(blocks + 1)
      const after = await caughtUp(chain)
      expect(after.latest.height).toBe(before.latest.height + 1)
      const gone = events.flatMap(({ rolledBack }) => rolledBack)
      expect(gone.map((block) => block.height)).toEqual(Array.from({ length: blocks }, (_, index) => before.latest.height - index))
      await inclusion(watch, ({ kind }) => kind === 'unseen')
      const finalities = events.map(({ finalized }) => finalized)
      expect(finalities).toEqual([...finalities].sort((a, b) => a - b))
      // After the fork, the same bytes are valid again.
      await chain.send(raw)
      await anvil.mine(depth + 1)
      expect(await inclusion(watch, (now) => now.kind === 'included' && now.final)).toMatchObject({ receipt: { hash } })
    },
  )

  test('a fork of final blocks is believed if two nodes of three show it, and not if one shows it', async () => {
    const { chain, events, behind } = await connected(3)
    await anvil.mine(10)
    await caughtUp(chain)
    const from = (await height()) - 8
    const [first, second] = behind as [RpcProxy, RpcProxy, RpcProxy]
    forkAlone(first, from)
    await anvil.mine(2)
    first.requests.length = 0
    await expect.poll(() => first.requests.length).toBeGreaterThan(12)
    expect(events.flatMap(({ rolledBack }) => rolledBack)).toEqual([])
    forkAlone(second, from)
    const event = await head(chain, ({ latest }) => latest.hash.startsWith(forkMark))
    expect(event.rolledBack.at(-1)?.height).toBe(from)
  })

  test('blocks are final by tag if more than half of the nodes tag them, whichever node is asked', async () => {
    const { chain, behind } = await connected(3, { finality: { kind: 'tag' } })
    const [first, second] = behind as [RpcProxy, RpcProxy]
    await anvil.mine(4)
    const { finalized, latest } = await caughtUp(chain)
    await head(chain, (event) => event.finalized === latest.height - 2)
    expect(finalized).toBeLessThanOrEqual(latest.height - 2)
    // According to the first node, every block is final. According to the second node, no new block becomes final.
    const tags = new Map([
      [first, await anvil.rpc('eth_getBlockByNumber', ['latest', false])],
      [second, await anvil.rpc('eth_getBlockByNumber', [`0x${(latest.height - 2).toString(16)}`, false])],
    ])
    for (const [node, block] of tags) {
      node.alter = (method, _, params) => (method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? block : undefined)
    }
    await anvil.mine(5)
    await head(chain, (event) => event.latest.height === latest.height + 5 && event.finalized === latest.height)
    first.alter = undefined
    await head(chain, (event) => event.finalized === latest.height + 3)
  })

  test.each([3, 20])('a node that lags by %i blocks rolls nothing back and delays no head', async (blocks) => {
    const { chain, events, behind } = await connected(3)
    await anvil.mine(blocks)
    await caughtUp(chain)
    const stale = await anvil.rpc('eth_getBlockByNumber', [`0x${((await height()) - blocks).toString(16)}`, false])
    const [first] = behind as [RpcProxy]
    const newest = await height()
    first.alter = (method, result) => {
      if (method === 'eth_blockNumber') return (stale as { number: string }).number
      const block = method === 'eth_getBlockByNumber' ? (result as { number: string } | null) : null
      return block && Number(block.number) >= newest ? stale : undefined
    }
    await anvil.mine(2)
    if (blocks > 5) {
      // The chain must notice that the first node lags before it compares all nodes again. Afterwards it asks this node
      // last.
      expect((await caughtUp(chain)).latest.height).toBe(newest + 2)
      await expect.poll(() => chain.nodes()[0]?.lag).toBeGreaterThan(5)
    }
    first.alter = undefined
    expect((await caughtUp(chain)).latest.height).toBe(newest + 2)
    expect(events.flatMap(({ rolledBack }) => rolledBack)).toEqual([])
  })

  test('nonces do not fall if a node shows stale state, and rise again with the node', async () => {
    const { chain, behind } = await connected(1)
    const signer = await devnetSigner(account++)
    const [node] = behind as [RpcProxy]
    await chain.send((await signer.sign(payment(signer, 0))).raw)
    await anvil.mine()
    await caughtUp(chain)
    expect(await chain.account(signer.address)).toMatchObject({ latestNonce: 1 })
    node.alter = (method) => (method === 'eth_getTransactionCount' ? '0x0' : undefined)
    await anvil.mine()
    await caughtUp(chain)
    expect(await chain.account(signer.address)).toMatchObject({ latestNonce: 1, finalizedNonce: 0 })
    node.alter = undefined
    await anvil.mine(depth)
    await caughtUp(chain)
    expect(await chain.account(signer.address)).toMatchObject({ latestNonce: 1, finalizedNonce: 1 })
  })

  test('a chain that stops causes no event, and is followed when it goes on', async () => {
    const { chain, events, behind } = await connected(1)
    await caughtUp(chain)
    events.length = 0
    const [node] = behind as [RpcProxy]
    node.requests.length = 0
    await expect.poll(() => node.requests.length).toBeGreaterThan(5)
    expect(events).toEqual([])
    await anvil.mine(3)
    await caughtUp(chain)
    expect(events.flatMap(({ applied }) => applied)).toHaveLength(3)
  })

  test('an outage of 1,000 blocks is filled block by block, in batches of 50 at most', async () => {
    const { chain, events, behind } = await connected(1)
    const before = (await caughtUp(chain)).latest.height
    const [node] = behind as [RpcProxy]
    events.length = 0
    node.mode = 503
    await anvil.rpc('anvil_mine', ['0x3e8'])
    node.mode = 'pass'
    await caughtUp(chain)
    expect(events.flatMap(({ applied }) => applied).map((block) => block.height)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => before + 1 + index),
    )
    expect(Math.max(...node.requests.map((methods) => methods.length))).toBeLessThanOrEqual(52)
  })
})
