import { id, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { EvmChain } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { callsOf } from '../helpers/node-calls.ts'
import { head } from '../helpers/heads.ts'
import { evmSetting } from './setting.ts'

const { address: from } = devnetAccount(3)
/** A call of this contract emits an event. The topics of the event are the first two words of the call data. */
const contract = '0x00000000000000000000000000000000000000aa'
const emitter = '0x6020355f355f5fa200'
const empty = `0x${'0'.repeat(512)}`
const event = id('Happened(uint256)')
const finality = { kind: 'depth', blocks: 2 } as const

describe('logs of final blocks', () => {
  const setting = evmSetting(3)
  const { anvil, connect, connectBehind } = setting
  const asked = callsOf

  async function emit(value: number): Promise<number> {
    await anvil.rpc('anvil_setCode', [contract, emitter])
    const data = `${event}${toBeHex(value, 32).slice(2)}`
    await anvil.rpc('eth_sendTransaction', [{ from, to: contract, data, gas: '0x186a0' }])
    await anvil.mine()
    return Number(await anvil.rpc<string>('eth_blockNumber'))
  }
  const untilFinal = (chain: EvmChain, height: number) => head(chain, ({ finalized }) => finalized >= height)
  const range = (fromBlock: number, toBlock: number, topics: readonly string[] = [event]) => ({
    address: contract,
    topics,
    fromBlock,
    toBlock,
  })

  test('logs that headers exclude are not read from nodes, and every existing log is found', async () => {
    const chain = await connect(anvil.url, { finality })
    const first = await emit(0)
    for (let value = 1; value < 10; value++) await emit(value)
    const last = first + 9
    await anvil.mine(4)
    await untilFinal(chain, last + 2)
    for (let value = 0; value < 10; value++) {
      for (const at of [undefined, 'majority'] as const)
        expect(await chain.logs(range(first, last, [event, toBeHex(value, 32)]), at)).toMatchObject([{ block: { height: first + value } }])
    }
    expect(asked(chain, 'eth_getLogs')).toBe(20)
    expect(await chain.logs(range(last + 1, last + 2), 'agreed')).toEqual([])
    expect(await chain.logs(range(first, last + 2, [event, toBeHex(77, 32)]))).toEqual([])
    expect(await chain.logs({ ...range(first, last + 2, []), address: from.toLowerCase() })).toEqual([])
    expect(asked(chain, 'eth_getLogs')).toBe(20)
    // The first blocks are not final, and the second are not in the cache.
    expect(await chain.logs(range(last + 3, last + 4))).toEqual([])
    expect(await chain.logs(range(0, 1))).toEqual([])
    expect(asked(chain, 'eth_getLogs')).toBe(22)
  })

  test('a cached final block is not read again', async () => {
    const chain = await connect(anvil.url, { finality })
    await anvil.mine(4)
    const latest = Number(await anvil.rpc<string>('eth_blockNumber'))
    await untilFinal(chain, latest - 2)
    const { hash, parentHash } = await anvil.rpc<{ hash: string; parentHash: string }>('eth_getBlockByNumber', [toBeHex(latest - 2), false])
    const calls = () => asked(chain, 'eth_getBlockByNumber')
    const before = calls()
    const block = chain.block(latest - 2, 'latest')
    expect(calls()).toBe(before)
    expect(await block).toMatchObject({ height: latest - 2, hash, parentHash })
  })

  test("a node with a false empty bloom filter is not believed, because the header's hash covers it", async () => {
    const { chain, first, behind } = await connectBehind(3, { finality })
    first.alter = (method, result) => (method === 'eth_getBlockByNumber' && result ? { ...result, logsBloom: empty } : undefined)
    const height = await emit(1)
    await anvil.mine(3)
    await untilFinal(chain, height)
    expect(await chain.logs(range(height, height))).toHaveLength(1)
    expect(behind.map(({ requests }) => requests.flat().includes('eth_getLogs'))).toContain(true)
  })

  test('nodes are asked for logs on a chain that hashes its headers in another way', async () => {
    const { proxy } = setting
    const node = await proxy()
    node.alter = (method, result) =>
      method === 'eth_getBlockByNumber' && result ? { ...result, logsBloom: empty, extraData: '0x01' } : undefined
    const chain = await connect(node.url, { finality })
    const height = await emit(2)
    await anvil.mine(3)
    await untilFinal(chain, height)
    expect(await chain.logs(range(height, height))).toHaveLength(1)
  })
})
