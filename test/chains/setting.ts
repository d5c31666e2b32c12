import { afterAll, afterEach, beforeAll } from 'vitest'
import type { EvmChain, EvmChainOptions, EvmNodeOptions } from '../../chains/evm/index.ts'
import { startManualAnvil, testChain } from '../helpers/evm.ts'
import { type RpcProxy, startRpcProxy } from '../helpers/rpc-proxy.ts'

/**
 * No transaction has this hash. Calls about it have the same answer at each node, so tests can watch which node is
 * asked.
 */
export const unknownHash = `0x${'0'.repeat(64)}`

type ManualAnvil = Awaited<ReturnType<typeof startManualAnvil>>

/** Starts an anvil for the suite. Each test's proxies and chains are closed after the test. */
export function evmSetting(blocks: number) {
  let started: ManualAnvil | undefined
  const chains: EvmChain[] = []

  beforeAll(async () => {
    started = await startManualAnvil()
    await started.mine(blocks)
  })
  afterEach(async () => {
    for (const chain of chains.splice(0)) chain.close()
  })
  afterAll(() => started?.stop())

  function running(): ManualAnvil {
    if (!started) throw new Error('anvil is not started')
    return started
  }

  async function proxy(): Promise<RpcProxy> {
    return startRpcProxy(running().url)
  }

  async function connect(
    nodes: string | readonly string[] | readonly EvmNodeOptions[],
    options: Partial<EvmChainOptions> = {},
  ): Promise<EvmChain> {
    const given = [nodes].flat().map((node) => (typeof node === 'string' ? { url: node } : node))
    const chain = testChain([], { nodes: given, ...options })
    chains.push(chain)
    await chain.connect()
    return chain
  }

  /** Connects a chain to `count` proxies of the same node. The chain asks `first` before the other proxies. */
  async function connectBehind(count: number, options: Partial<EvmChainOptions> = {}) {
    const behind = await Promise.all(Array.from({ length: count }, proxy))
    const [first] = behind
    if (!first) throw new Error('a chain needs a node')
    const chain = await connect(
      behind.map(({ url }) => url),
      options,
    )
    return { chain, first, behind }
  }

  const anvil: Pick<ManualAnvil, 'url' | 'chainId' | 'rpc' | 'mine'> = {
    get url() {
      return running().url
    },
    get chainId() {
      return running().chainId
    },
    rpc: (method, params) => running().rpc(method, params),
    mine: (count) => running().mine(count),
  }
  return { anvil, proxy, connect, connectBehind }
}
