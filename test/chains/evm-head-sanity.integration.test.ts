import { describe, expect, test } from 'vitest'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'
import { headerHash } from '../../chains/evm/heads/blocks.ts'

const absurd = `0x${(5_000_000).toString(16)}`

/** Only one node shows the high blocks, and they do not link to known blocks. */
describe('a node that always shows a head far above the chain’s', () => {
  const { anvil, proxy, connect } = evmSetting(10)

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

  test("a false high head is refused while the chain runs, and the other nodes' heads are taken", async () => {
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

  test("a false high head is refused at the start, and the other nodes' heads are taken", async () => {
    const { chain } = await behind(true)
    expect(chain.heads.current?.latest.height).toBe(await height())
  })

  test('a chain that really grew that far between two polls is followed', async () => {
    const { chain, first, all } = await behind(false)
    for (const node of all) node.mode = 503
    await anvil.rpc('anvil_mine', ['0x5dc'])
    for (const node of all) node.mode = 'pass'
    first.mode = 503
    const now = await height()
    expect((await head(chain, ({ latest }) => latest.height === now)).latest.height).toBe(now)
  })
})

type Raw = Record<string, unknown> & { hash: string; number: string; timestamp: string }

/** Block times decide when a native bridge's budget renews, and when a guardian set expires. */
describe('one node of three lies about times', () => {
  const { anvil, proxy, connect } = evmSetting(10)

  const top = () => anvil.rpc<Raw>('eth_getBlockByNumber', ['latest', false])
  const threeNodes = async () => [await proxy(), await proxy(), await proxy()] as const
  const connected = async (nodes: readonly RpcProxy[]) => connect(nodes.map(({ url }) => url))

  test.each(['0x0', '0xffffffff', '0x1fffffffffffff'])('an invented block with the time %s moves no clock', async (timestamp) => {
    const nodes = await threeNodes()
    const [first, , third] = nodes
    const chain = await connected(nodes)
    await anvil.mine()
    const before = await top()
    const height = Number(before.number)
    const { time } = await head(chain, ({ latest }) => latest.height === height)
    expect(time).toBe(Number(before.timestamp))
    const raw = { ...before, number: `0x${(height + 1).toString(16)}`, parentHash: before.hash, timestamp, transactions: [] }
    const invented = { ...raw, hash: headerHash(raw) }
    first.alter = (method, _, [at]) => (method === 'eth_getBlockByNumber' && at === 'latest' ? invented : undefined)
    const times: (number | undefined)[] = []
    chain.heads.subscribe((event) => times.push(event.time))
    // While the third node is down, the invented block has as many votes as the true one.
    third.mode = 503
    await anvil.mine()
    await head(chain, ({ latest }) => latest.height === height + 1)
    const truth = Number((await top()).timestamp)
    for (const seen of times) expect([seen, seen! >= time! && seen! <= truth]).toEqual([seen, true])
  })

  test('altered content under a true hash does not count, on a chain whose headers are not checked', async () => {
    const nodes = await threeNodes()
    const odd = (method: string, result: unknown) =>
      method === 'eth_getBlockByNumber' && result ? { ...result, nonce: `0x${'1'.repeat(16)}` } : undefined
    for (const node of nodes) node.alter = odd
    const chain = await connected(nodes)
    nodes[0].alter = (method, result) => {
      const block = odd(method, result)
      return block && { ...block, timestamp: '0x1', baseFeePerGas: '0x1', gasLimit: '0x1' }
    }
    for (const node of nodes.slice(1)) node.delayMs = 50
    await anvil.mine()
    const { number, timestamp } = await top()
    const { latest, time } = await head(chain, (event) => event.latest.height === Number(number))
    expect([latest.timestamp, time]).toEqual([Number(timestamp), Number(timestamp)])
    expect(latest.baseFee).not.toBe('1')
    expect((await chain.block(3, 'agreed'))?.timestamp).toBeGreaterThan(1)
  })
})
