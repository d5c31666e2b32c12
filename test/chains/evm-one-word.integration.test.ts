import { describe, expect, test } from 'vitest'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { deployReverting } from '../helpers/reverting.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { testPolicy } from '../helpers/signing-policy.ts'
import { evmSetting } from './setting.ts'

const { address } = devnetAccount(7)
const gwei = 10n ** 9n
const intent = { to: address, data: '0x', value: '1' }
const dear = `0x${(5_000n * gwei).toString(16)}`

/**
 * One node alone answers most reads. The other nodes are asked if its answer would stop deliveries or be remembered.
 */
describe('one node of three lies, and is asked first', () => {
  const { anvil, connect, connectBehind } = evmSetting(60)

  const truth = async () => connect(anvil.url)
  const without = (others: readonly RpcProxy[], refused: string) => {
    for (const other of others) other.refuse = refused
  }
  const overprice = (node: RpcProxy) => {
    node.alter = (method, result) => {
      if (method === 'eth_gasPrice') return dear
      if (method !== 'eth_feeHistory') return undefined
      const { reward, baseFeePerGas } = result as { reward: unknown[]; baseFeePerGas: string[] }
      const prices = { baseFeePerGas: baseFeePerGas.map(() => dear), reward: reward.map(() => [dear]) }
      return { ...(result as object), ...prices, gasUsedRatio: reward.map(() => 1) }
    }
  }
  async function nextHead(chain: Awaited<ReturnType<typeof connect>>): Promise<void> {
    await anvil.mine()
    const now = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, ({ latest }) => latest.height === now)
  }

  test('a revert of one node is checked with the others, and a true revert stays one', async () => {
    const { chain, first } = await connectBehind(3)
    const { address: contract } = await deployReverting(anvil, 'no')
    await nextHead(chain)
    first.refuse = (method) => (method === 'eth_call' ? { code: 3, message: 'execution reverted' } : undefined)
    for (const at of ['latest', 'finalized'] as const) expect(await chain.call(address, '0x', at)).toBe('0x')
    first.refuse = (method) => (method === 'eth_call' ? { code: -32_000, message: 'insufficient funds for transfer' } : undefined)
    expect(await chain.call(address, '0x', 'latest')).toBe('0x')
    first.refuse = (method) => (method === 'eth_call' ? { code: 3, message: 'execution reverted' } : undefined)
    await expect(chain.call(contract, '0x', 'latest')).rejects.toMatchObject({ code: 'NODE_REFUSED' })
  })

  test('a lack of funds that one node claims is checked with the others', async () => {
    const { chain, behind } = await connectBehind(3)
    const expected = await (await truth()).simulate(intent, address)
    const unpaid = (method: string) =>
      method === 'eth_estimateGas' ? { code: -32_000, message: 'insufficient funds for transfer' } : undefined
    behind[0]!.refuse = unpaid
    expect(await chain.simulate(intent, address)).toEqual(expected)
    behind[2]!.refuse = unpaid
    await expect(chain.simulate(intent, address)).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' })
  })

  test.each([1, 3])('a revert with the words for an empty account counts only as a revert, with %i nodes', async (count) => {
    const { chain, behind } = await connectBehind(count)
    for (const reason of ['insufficient balance', 'insufficient funds']) {
      const { address: to } = await deployReverting(anvil, reason)
      const revert = { data: expect.stringMatching(/^0x08c379a0/) as string, reason }
      for (const value of ['0', '1']) expect(await chain.simulate({ to, data: '0x', value }, address)).toEqual({ ok: false, revert })
    }
    // A node may return only the text of the revert, without its data.
    for (const node of behind) node.refuse = () => ({ code: -32_000, message: 'insufficient funds' })
    const revert = { data: '0x', reason: 'insufficient funds' }
    expect(await chain.simulate({ ...intent, value: '0' }, address)).toEqual({ ok: false, revert })
    await expect(chain.simulate(intent, address)).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' })
  })

  test('most nodes decide about a balance of coins or tokens, with one read of contracts per node', async () => {
    const { chain, behind, first } = await connectBehind(3)
    const { balance } = await (await truth()).account(address)
    // A contract with this code returns 42 to every call.
    const [token, other] = [`0x${'70'.repeat(20)}`, `0x${'71'.repeat(20)}`]
    for (const contract of [token, other]) await anvil.rpc('anvil_setCode', [contract, '0x602a60005260206000f3'])
    first.alter = (method) => (method === 'eth_getBalance' ? '0x0' : method === 'eth_call' ? `0x${'0'.repeat(64)}` : undefined)
    expect(await chain.balanceOf(address)).toBe(balance)
    for (const node of behind) node.requests.length = 0
    expect(await Promise.all([token, other].map((one) => chain.balanceOf(address, one)))).toEqual(['42', '42'])
    for (const { requests } of behind) {
      const ofContracts = requests.filter((methods) => methods.includes('eth_call'))
      // The proxy lists a merged read once for each token.
      expect(ofContracts).toEqual([['eth_call', 'eth_call']])
    }
    first.alter = undefined
    // A call of an account without code returns nothing.
    await expect(chain.balanceOf(address, address)).rejects.toMatchObject({ code: 'NODE_REFUSED' })
  })

  test("one node's claim of an empty account is not believed, at the start and later", async () => {
    const { chain, first } = await connectBehind(3)
    const { balance } = await (await truth()).account(address)
    const empty = (method: string) => (method === 'eth_getBalance' ? '0x0' : undefined)
    first.alter = empty
    expect((await chain.account(address)).balance).toBe(balance)
    first.alter = undefined
    await nextHead(chain)
    expect((await chain.account(address)).balance).toBe(balance)
    const asked = () => first.requests.flat().filter((method) => method === 'eth_getBalance').length
    expect(asked()).toBe(3)
    first.alter = empty
    await nextHead(chain)
    expect((await chain.account(address)).balance).toBe(balance)
  })

  test('prices of one quick node are not used while the others take their time', async () => {
    const honest = await (await truth()).quote()
    const { chain, first, behind } = await connectBehind(3)
    overprice(first)
    for (const slow of behind.slice(1)) slow.delayMs = 900
    expect(await chain.quote()).toEqual(honest)
  })

  test('prices of one node make no cap while the others have none', async () => {
    const { chain, first, behind } = await connectBehind(3)
    overprice(first)
    for (const other of behind.slice(1))
      other.refuse = (method) => (method === 'eth_feeHistory' ? { code: -32_601, message: 'not served' } : undefined)
    const { cap } = await chain.quote()
    expect(BigInt(cap ?? 0)).toBeLessThan(100n * gwei)
  })

  test('an estimate of one node is not remembered while the others have none', async () => {
    const { chain, first, behind } = await connectBehind(3)
    const others = behind.slice(1)
    const expected = await (await truth()).simulate({ ...intent, value: '3' }, address)
    first.alter = (method) => (method === 'eth_estimateGas' ? '0x1ba8140' : undefined)
    without(others, 'eth_estimateGas')
    expect(await chain.simulate(intent, address)).toMatchObject({ ok: true })
    for (const other of others) other.refuse = undefined
    expect(await chain.simulate({ ...intent, value: '3' }, address)).toEqual(expected)
  })

  test('a plausible but low estimate costs one round, and then single nodes are not believed for a while', async () => {
    const { chain, first } = await connectBehind(3)
    const call = (value: string) => chain.simulate({ ...intent, value }, address, { gasFactor: 1.05 })
    const expected = await call('1')
    const low = `0x${Math.ceil(21_000 * 0.91).toString(16)}`
    first.alter = (method) => (method === 'eth_estimateGas' ? low : undefined)
    expect(await call('2')).not.toEqual(expected)
    expect(await call('2')).toEqual(expected)
    expect(await call('3')).toEqual(expected)
  })

  test('remembered reads of logs are confirmed by most nodes, and a refusal stays one', async () => {
    const { chain, first, behind } = await connectBehind(3)
    const range = { address, topics: [], fromBlock: 1, toBlock: 5 }
    const log = {
      address,
      topics: [],
      data: '0x',
      blockNumber: '0x2',
      logIndex: '0x0',
      blockHash: `0x${'ab'.repeat(32)}`,
      transactionHash: `0x${'cd'.repeat(32)}`,
    }
    first.alter = (method) => (method === 'eth_getLogs' ? [log] : undefined)
    expect(await chain.logs(range)).toHaveLength(1)
    expect(await chain.logs(range, 'majority')).toEqual([])
    behind[1]!.refuse = 'eth_getLogs'
    await expect(chain.logs(range, 'majority')).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    for (const node of behind) node.refuse = 'eth_getLogs'
    await expect(chain.logs(range, 'majority')).rejects.toMatchObject({ code: 'NODE_REFUSED' })
  })

  /** Makes the oracle return 1,000,000 to every call. */
  const setOracle = () => anvil.rpc('anvil_setCode', ['0x420000000000000000000000000000000000000f', '0x620f42405f5260205ff3'])

  test.each([
    ['that it reverts', { code: 3, message: 'execution reverted' }, undefined],
    ['that it cannot be paid', { code: -32_000, message: 'insufficient funds for transfer' }, undefined],
    ['nothing', undefined, '0x'],
    ['half a word', undefined, '0x01'],
  ])('no signature waits for a data fee: %s', async (_, error, bytes) => {
    const { chain, first, behind } = await connectBehind(3, { feeModel: 'op-stack' })
    await setOracle()
    const key = await devnetSigner(7)
    const signer = withPolicy(key, testPolicy({ dataFee: chain.dataFee }))
    const noop = { networkId: chain.networkId, nonce: 0, to: key.address, data: '0x', value: '0', gasLimit: '21000', maxFee: '1', tip: '1' }
    const lie = (node: RpcProxy) => {
      node.refuse = (method) => (method === 'eth_call' ? error : undefined)
      node.alter = (method) => (method === 'eth_call' ? bytes : undefined)
    }
    lie(first)
    for (const one of [noop, { ...noop, maxFee: '2' }]) {
      await signer.check?.(one)
      await signer.sign(one)
    }
    expect(signer.spending?.()[0]?.spent).toBe(1_500_000n + 42_000n)
    // While the other nodes do not answer, or also lie, the last fee per byte that they agreed on counts.
    for (const fail of [(node: RpcProxy) => void (node.refuse = 'eth_call'), lie]) {
      behind.slice(1).forEach(fail)
      await signer.sign({ ...noop, maxFee: '3' })
      expect(await chain.dataFee({ ...intent, data: `0x${'ab'.repeat(101)}` })).toBe('3000000')
    }
    const fresh = await connect(
      behind.map(({ url }) => url),
      { feeModel: 'op-stack' },
    )
    await expect(fresh.dataFee(intent)).rejects.toMatchObject({ code: 'NODE_REFUSED' })
  })

  test('a data fee that only one node reports is not remembered', async () => {
    const { chain, first, behind } = await connectBehind(3, { feeModel: 'op-stack' })
    await setOracle()
    first.alter = (method) => (method === 'eth_call' ? `0x${(10n ** 18n).toString(16).padStart(64, '0')}` : undefined)
    without(behind.slice(1), 'eth_call')
    expect(BigInt(await chain.dataFee(intent))).toBe((10n ** 18n * 3n) / 2n)
    for (const other of behind.slice(1)) other.refuse = undefined
    expect(await chain.dataFee(intent)).toBe('1500000')
  })
})
