import { hexlify, randomBytes, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

const { address: from } = devnetAccount(7)
const topic = toBeHex(1, 32)

describe('logs of a transaction', () => {
  const { anvil, connectBehind } = evmSetting(60)

  /** Mines a transaction with two logs of two words each, and waits until its block is final. */
  async function logged() {
    const { chain, behind } = await connectBehind(3)
    const contract = hexlify(randomBytes(20))
    // PUSH1 1, PUSH1 64, PUSH1 0, LOG1, twice.
    await anvil.rpc('anvil_setCode', [contract, '0x600160406000a1600160406000a1'])
    await anvil.rpc('anvil_setBalance', [from, toBeHex(10n ** 20n)])
    await anvil.rpc('anvil_impersonateAccount', [from])
    const transaction = await anvil.rpc<string>('eth_sendTransaction', [{ from, to: contract, gas: '0x186a0' }])
    await anvil.mine()
    const { blockNumber } = await anvil.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [transaction])
    await anvil.mine(70)
    const height = Number(blockNumber)
    await head(chain, ({ finalized }) => finalized >= height)
    chain.heads.stop()
    return { chain, behind, range: { address: contract, topics: [topic], fromBlock: height, toBlock: height, transaction } }
  }

  test('the logs of a receipt are read even if nodes leave them out of their answers about blocks', async () => {
    const { chain, behind, range } = await logged()
    for (const node of behind) node.alter = (method, result) => (method === 'eth_getLogs' ? (result as unknown[]).slice(1) : undefined)
    expect(await chain.logs({ ...range, transaction: undefined }, 'agreed')).toHaveLength(1)
    expect(await chain.logs(range, 'agreed')).toHaveLength(2)
    expect(await chain.logs({ ...range, topics: [toBeHex(2, 32)] }, 'agreed')).toEqual([])
    expect(await chain.logs({ ...range, transaction: toBeHex(9, 32) }, 'agreed')).toEqual([])
  })

  test('reads of one transaction share one read of its receipt, whatever logs they ask for', async () => {
    const { chain, behind, range } = await logged()
    for (const node of behind) node.requests.length = 0
    const other = hexlify(randomBytes(20))
    const ranges = [range, range, { ...range, topics: [] }, { ...range, topics: [toBeHex(2, 32)] }, { ...range, address: other }]
    const lengths = async () => (await Promise.all(ranges.map((one) => chain.logs(one, 'agreed')))).map(({ length }) => length)
    expect(await lengths()).toEqual([2, 2, 2, 0, 0])
    expect(await lengths()).toEqual([2, 2, 2, 0, 0])
    const receiptsOf = ({ requests }: RpcProxy) => requests.flat().filter((method) => method === 'eth_getTransactionReceipt')
    expect(behind.map((node) => receiptsOf(node).length)).toEqual([1, 1, 1])
  })

  test.each([
    ['hides a log, and answers first', 0, 200, 'hides'],
    ['hides a log, and answers second', 200, 0, 'hides'],
    ['invents logs, and answers second', 200, 0, 'invents'],
  ])('one lying node of three changes nothing: it %s', async (_, liarMs, honestMs, how) => {
    const { chain, behind, range } = await logged()
    const [liar, honest, slow] = behind
    liar!.alter = (method, result) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      const { logs } = result as { logs: unknown[] }
      return { ...(result as object), logs: how === 'hides' ? logs.slice(1) : [...logs, ...logs] }
    }
    liar!.delayMs = liarMs
    honest!.delayMs = honestMs
    slow!.delayMs = 400
    expect(await chain.logs(range, 'agreed')).toHaveLength(2)
  })
})
