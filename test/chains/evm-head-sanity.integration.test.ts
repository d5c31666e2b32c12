import { describe, expect, test } from 'vitest'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

const absurd = `0x${(5_000_000).toString(16)}`

/** Blocks that are not linked to ours are one node's word. */
describe('a node that always shows a head far above the chain’s', () => {
  const { anvil, proxy, connect } = evmSetting(10)

  /** A chain of three nodes, and the one that is asked first. */
  async function behind(lying: boolean) {
    const first = await proxy()
    const all = [first, await proxy(), await proxy()]
    if (lying) lie(first)
    return { chain: await connect(all.map(({ url }) => url)), first, all }
  }

  function lie(node: RpcProxy): void {
    node.alter = (method, result, params) => {
      if (method === 'eth_blockNumber') return absurd
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined
      return { ...(result as object), number: absurd, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` }
    }
  }

  const height = async () => Number(await anvil.rpc<string>('eth_blockNumber'))

  test('while it runs: its head is not taken, and the others’ are', async () => {
    const { chain, first } = await behind(false)
    const heights: number[] = []
    chain.heads.subscribe(({ latest }) => heights.push(latest.height))
    lie(first)
    await anvil.mine(3)
    const now = await height()
    await head(chain, ({ latest }) => latest.height === now)
    expect(Math.max(...heights)).toBe(now)
    await anvil.mine(2)
    await head(chain, ({ latest }) => latest.height === now + 2)
  })

  test('when it starts: the same', async () => {
    const { chain } = await behind(true)
    expect(chain.heads.current?.latest.height).toBe(await height())
  })

  test('a chain that has really come so far between two looks is followed', async () => {
    const { chain, first, all } = await behind(false)
    for (const node of all) node.mode = 503
    await anvil.rpc('anvil_mine', ['0x5dc'])
    for (const node of all) node.mode = 'pass'
    // One of three is still down.
    first.mode = 503
    const now = await height()
    expect((await head(chain, ({ latest }) => latest.height === now)).latest.height).toBe(now)
  })
})
