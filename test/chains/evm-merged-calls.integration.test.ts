import { describe, expect, test } from 'vitest'
import type { EvmChain } from '../../chains/evm/index.ts'
import { callsOf } from '../helpers/node-calls.ts'
import { deployReverting } from '../helpers/reverting.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

/** The precompile that returns its call data. */
const identity = '0x0000000000000000000000000000000000000004'
const words = Array.from({ length: 150 }, (_, index) => `0x${(index + 1).toString(16).padStart(64, '0')}${'ab'.repeat(index % 40)}`)

describe('reads of contracts that leave together', () => {
  const { anvil, connect, connectBehind } = evmSetting(5)
  const asked = (chain: EvmChain) => callsOf(chain, 'eth_call')

  test('contract reads share one call per block, a hundred at most, and each has its own answer', async () => {
    const chain = await connect(anvil.url)
    const latest = words.map((word) => chain.call(identity, word, 'latest'))
    const finalized = [chain.call(identity, '0x', 'finalized'), chain.call(identity, '0x01', 'finalized')]
    expect(await Promise.all(latest)).toEqual(words)
    expect(await Promise.all(finalized)).toEqual(['0x', '0x01'])
    expect(asked(chain)).toBe(3)
  })

  test('a failed read of a merged call is repeated alone, so that its own error is known', async () => {
    const chain = await connect(anvil.url)
    const { address } = await deployReverting(anvil, 'no')
    const [first, failed, last] = await Promise.allSettled([
      chain.call(identity, '0x01', 'latest'),
      chain.call(address, '0x', 'latest'),
      chain.call(identity, '0x02', 'latest'),
    ])
    expect([first, last]).toMatchObject([{ value: '0x01' }, { value: '0x02' }])
    expect(failed).toMatchObject({ reason: { code: 'NODE_REFUSED', rpcMessage: expect.stringContaining('no') as string } })
    expect(asked(chain)).toBe(2)
  })

  const isMerged = (method: string, [read]: readonly unknown[]) => method === 'eth_call' && !('to' in (read as object))
  test.each([
    [
      'refuses',
      (node: RpcProxy) =>
        (node.refuse = (method, params) => (isMerged(method, params) ? { code: -32_602, message: 'no recipient' } : undefined)),
    ],
    ['answers nothing', (node: RpcProxy) => (node.alter = (method, _, params) => (isMerged(method, params) ? '0x' : undefined))],
    [
      'answers too much',
      (node: RpcProxy) => (node.alter = (method, result, params) => (isMerged(method, params) ? `${String(result)}00` : undefined)),
    ],
    ['answers no bytes', (node: RpcProxy) => (node.alter = (method, _, params) => (isMerged(method, params) ? { data: '0x' } : undefined))],
  ])('a node that %s where reads are merged gets each by itself, and no merged ones for a while', async (_, spoil) => {
    const { chain, first } = await connectBehind(1)
    first.readsMerged = false
    spoil(first)
    const some = words.slice(0, 10)
    const read = () => Promise.all(some.map((word) => chain.call(identity, word, 'latest')))
    expect(await read()).toEqual(some)
    expect(asked(chain)).toBe(11)
    expect(await read()).toEqual(some)
    expect(asked(chain)).toBe(21)
  })

  test('a node that asks for fewer calls is not asked for more', async () => {
    const { chain, first, behind } = await connectBehind(2)
    first.refuse = (method) => (method === 'eth_call' ? { code: 429, message: 'too many requests' } : undefined)
    first.readsMerged = false
    const some = words.slice(0, 10)
    expect(await Promise.all(some.map((word) => chain.call(identity, word, 'latest')))).toEqual(some)
    expect(behind.map(({ requests }) => requests.flat().filter((method) => method === 'eth_call').length)).toEqual([1, 10])
    expect(asked(chain)).toBe(2)
  })
})
