import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../lab/devnet/fault-proxy/proxy.ts'
import { devnetAccount } from '../../../lab/devnet/chain/accounts.ts'
import { devnetSigner, payment, startManualAnvil } from '../../helpers/evm.ts'

describe('the fault proxy', () => {
  let anvil: Awaited<ReturnType<typeof startManualAnvil>>
  let proxy: FaultProxy
  const post = (body: unknown) =>
    fetch(proxy.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    })
  const call = (method: string, params: readonly unknown[] = [], id = 1) => ({ jsonrpc: '2.0', id, method, params })
  const ask = async (method: string, ...params: unknown[]) => (await (await post(call(method, params))).json()) as Record<string, unknown>
  const nonce = () => anvil.rpc<string>('eth_getTransactionCount', [devnetAccount(0).address, 'pending'])

  const pay = async (at: number) => {
    const signer = await devnetSigner(0)
    return (await signer.sign(payment(signer, at))).raw
  }

  beforeAll(async () => {
    anvil = await startManualAnvil()
    await anvil.mine(10)
    proxy = await startFaultProxy(anvil.url)
  })
  afterEach(() => proxy.clear())
  afterAll(async () => {
    await proxy.stop()
    await anvil.stop()
  })

  test('the fault proxy passes on and counts calls that no rule concerns', async () => {
    expect(await ask('eth_chainId')).toEqual(
      await (
        await fetch(anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(call('eth_chainId')),
        })
      ).json(),
    )
    const both = (await (await post([call('eth_chainId', [], 7), call('eth_blockNumber', [], 9)])).json()) as { id: number }[]
    expect(both.map(({ id }) => id)).toEqual([7, 9])
    expect(proxy.calls.get('eth_chainId')).toBe(2)
  })

  test("the fault proxy never answers, cuts, or answers with a gateway's page", async () => {
    const raw = await pay(Number(await nonce()))
    proxy.add({ fault: { kind: 'accept-and-hang' }, methods: ['eth_sendRawTransaction'] })
    const cut = ask('eth_sendRawTransaction', raw).then(
      () => 'answered',
      () => 'cut',
    )
    await expect.poll(nonce, { timeout: 50_000 }).toBe('0x1')
    proxy.clear()
    expect(await cut).toBe('cut')
    proxy.add({ fault: { kind: 'cut' }, times: 1 })
    await expect(ask('eth_chainId')).rejects.toThrow('fetch failed')
    proxy.add({ fault: { kind: 'status', status: 429, retryAfterSeconds: 3 }, times: 1 })
    const page = await post(call('eth_chainId'))
    expect([page.status, page.headers.get('retry-after')]).toEqual([429, '3'])
    expect(await ask('eth_chainId')).toHaveProperty('result')
  })

  test('the fault proxy refuses a send with or without doing it, or forgets an accepted one', async () => {
    const before = Number(await nonce())
    const raw = await pay(before)
    const fatal = { code: -32_000, message: 'intrinsic gas too low' }
    const refusal = proxy.add({ fault: { kind: 'error', ...fatal, forward: false }, methods: ['eth_sendRawTransaction'] })
    expect(await ask('eth_sendRawTransaction', raw)).toMatchObject({ error: fatal })
    expect(Number(await nonce())).toBe(before)
    refusal.end()
    proxy.add({ fault: { kind: 'swallow' }, times: 1 })
    const swallowed = await ask('eth_sendRawTransaction', raw)
    expect(Number(await nonce())).toBe(before)
    proxy.add({ fault: { kind: 'error', ...fatal, forward: true }, methods: ['eth_sendRawTransaction'], times: 1 })
    expect(await ask('eth_sendRawTransaction', raw)).toMatchObject({ error: fatal })
    expect(Number(await nonce())).toBe(before + 1)
    await anvil.mine(1)
    expect(await ask('eth_getTransactionReceipt', swallowed['result'])).toMatchObject({ result: { status: '0x1' } })
  })

  test('the fault proxy answers every read of state as of some blocks ago', async () => {
    const account = devnetAccount(0).address
    const latest = Number(await anvil.rpc<string>('eth_blockNumber'))
    const hash = String((await ask('eth_sendRawTransaction', await pay(Number(await nonce()))))['result'])
    await anvil.mine(1)
    const [countNow, countThen] = await Promise.all(
      ['latest', `0x${latest.toString(16)}`].map((block) => anvil.rpc<string>('eth_getTransactionCount', [account, block])),
    )
    expect(countNow).not.toBe(countThen)
    proxy.add({ fault: { kind: 'behind', blocks: 1 } })
    expect(await ask('eth_blockNumber')).toMatchObject({ result: `0x${latest.toString(16)}` })
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ result: { number: `0x${latest.toString(16)}` } })
    expect(await ask('eth_getBlockByNumber', `0x${(latest + 1).toString(16)}`, false)).toMatchObject({ result: null })
    expect(await ask('eth_getTransactionCount', account, 'latest')).toMatchObject({ result: countThen })
    expect(await ask('eth_getTransactionCount', account, `0x${(latest + 1).toString(16)}`)).toHaveProperty('error')
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ result: null })
  })

  test('the fault proxy lies about a receipt once: missing, other status, other block', async () => {
    const hash = String((await ask('eth_sendRawTransaction', await pay(Number(await nonce()))))['result'])
    await anvil.mine(1)
    const { result: truth } = (await ask('eth_getTransactionReceipt', hash)) as { result: { blockNumber: string; blockHash: string } }
    for (const lie of ['null', 'status', 'block'] as const) proxy.add({ fault: { kind: 'receipt', lie }, times: 1 })
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ result: null })
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ result: { status: '0x0', blockHash: truth.blockHash } })
    const { result: other } = (await ask('eth_getTransactionReceipt', hash)) as { result: typeof truth }
    expect(Number(other.blockNumber)).toBe(Number(truth.blockNumber) - 1)
    expect(other.blockHash).not.toBe(truth.blockHash)
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ result: truth })
  })

  test('the fault proxy counts only lies that change an answer', async () => {
    const lie = proxy.add({ fault: { kind: 'lie', how: 'gas-low' } })
    const { to } = payment(await devnetSigner(0), 0)
    await ask('eth_blockNumber')
    expect(lie.strikes).toBe(0)
    expect(await ask('eth_estimateGas', { from: devnetAccount(0).address, to, data: '0x01' })).toMatchObject({ result: '0x5208' })
    expect(lie.strikes).toBe(1)
  })

  test('the fault proxy gives the answers of a test, for one function or for all', async () => {
    const to = devnetAccount(0).address
    const truth = await ask('eth_call', { to, data: '0xaa4efa5b00' }, 'latest')
    proxy.add({ fault: { kind: 'answer', result: '0x01' }, methods: ['eth_call 0xaa4efa5b'] })
    expect(await ask('eth_call', { to, data: '0xaa4efa5b00' }, 'latest')).toMatchObject({ result: '0x01' })
    expect(await ask('eth_call', { to, data: '0xaa4efa5c00' }, 'latest')).toEqual(truth)
    proxy.add({ fault: { kind: 'answer', result: '0x02' }, methods: ['eth_blockNumber'] })
    expect(await ask('eth_blockNumber')).toMatchObject({ result: '0x02' })
    expect(await ask('eth_chainId')).not.toMatchObject({ result: '0x02' })
  })

  test('the fault proxy loses, doubles and reorders the answers of a batch', async () => {
    const ids = async () => {
      const answers = (await (await post([1, 2, 3].map((id) => call('eth_blockNumber', [], id)))).json()) as { id: number }[]
      return answers.map(({ id }) => id)
    }
    for (const how of ['drop', 'duplicate', 'reorder'] as const) proxy.add({ fault: { kind: 'batch', how }, times: 1 })
    expect([await ids(), await ids(), await ids(), await ids()]).toEqual([
      [1, 2],
      [1, 2, 3, 1],
      [3, 2, 1],
      [1, 2, 3],
    ])
  })
})
