import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EvmChain } from '../../chains/evm/index.ts'
import { head, startManualAnvil, testChain } from '../helpers/evm.ts'
import { type RpcProxy, startRpcProxy } from '../helpers/rpc-proxy.ts'

const absurd = `0x${(5_000_000).toString(16)}`

/** Blocks that nothing links to ours are one node's word. */
describe('a node that tells of a head far above the chain’s, for ever', () => {
  let anvil: Awaited<ReturnType<typeof startManualAnvil>>
  const proxies: RpcProxy[] = []
  const chains: EvmChain[] = []

  beforeAll(async () => {
    anvil = await startManualAnvil()
    await anvil.mine(10)
  })
  afterEach(async () => {
    for (const chain of chains.splice(0)) chain.close()
    for (const proxy of proxies.splice(0)) await proxy.stop()
  })
  afterAll(() => anvil.stop())

  /** A chain of three nodes, and the one that is asked first. */
  async function behind(lying: boolean): Promise<{ chain: EvmChain; first: RpcProxy }> {
    const nodes = await Promise.all([0, 1, 2].map(() => startRpcProxy(anvil.url)))
    proxies.push(...nodes)
    const [first] = nodes as [RpcProxy]
    if (lying) lie(first)
    const chain = testChain(nodes.map(({ url }) => url))
    chains.push(chain)
    await chain.connect()
    return { chain, first }
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

  test('a chain that has really come so far while nobody looked is followed', async () => {
    const { chain, first } = await behind(false)
    for (const proxy of proxies) proxy.mode = 503
    await anvil.rpc('anvil_mine', ['0x5dc'])
    for (const proxy of proxies) proxy.mode = 'pass'
    // One of three is still down.
    first.mode = 503
    const now = await height()
    expect((await head(chain, ({ latest }) => latest.height === now)).latest.height).toBe(now)
  })
})
