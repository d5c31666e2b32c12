import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { accountIndex, devnetAccount } from '../../../lab/devnet/chain/accounts.ts'
import { startAnvil, type Anvil } from '../../../lab/devnet/chain/anvil.ts'
import { Script } from '../../../lab/devnet/chain/contracts.ts'
import { type FaultProxy, startFaultProxy } from '../../../lab/devnet/fault-proxy/proxy.ts'
import { compiledArtifact } from '../../../lab/devnet/chain/solidity.ts'

interface RawLog {
  readonly blockHash: string
  readonly data: string
  readonly transactionHash: string
}

describe('a node that is wrong about logs and finality', () => {
  let anvil: Anvil
  let proxy: FaultProxy
  let head: number
  let address: string

  beforeAll(async () => {
    anvil = await startAnvil({ chainId: 31_337, blockTimeSeconds: 86_400 })
    proxy = await startFaultProxy(anvil.url)
    const owner = devnetAccount(accountIndex.deployer)
    const token = await compiledArtifact('BridgeToken')
    const script = await Script.of(anvil, owner)
    address = script.deploy('BridgeToken', [], token)
    for (const amount of [5n, 6n, 7n]) script.call(address, token.abi, 'mint', [owner.address, amount])
    await script.mine()
    for (let block = 0; block < 6; block++) await anvil.rpc('evm_mine')
    head = Number(await anvil.rpc<string>('eth_blockNumber'))
  })
  afterEach(() => proxy.clear())
  afterAll(async () => {
    await proxy.stop()
    await anvil.stop()
  })

  const ask = async (method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await response.json()) as { result: unknown; error?: unknown }
  }
  const hex = (height: number) => `0x${height.toString(16)}`
  const answer = (fromBlock: number, toBlock: number) => ask('eth_getLogs', [{ address, fromBlock: hex(fromBlock), toBlock: hex(toBlock) }])
  const logs = async (fromBlock: number, toBlock: number) => (await answer(fromBlock, toBlock)).result as RawLog[]
  const amounts = async () => (await logs(0, head)).map(({ data }) => BigInt(data))

  test('a faulty node hides one log, or all', async () => {
    expect(await amounts()).toEqual([5n, 6n, 7n])
    const hiding = proxy.add({ fault: { kind: 'logs', how: 'one-less' } })
    expect(await amounts()).toEqual([6n, 7n])
    // This range has no logs, so the fault has nothing to hide and does not count.
    await logs(head, head)
    expect(hiding.strikes).toBe(1)
    hiding.end()
    proxy.add({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] })
    expect(await amounts()).toEqual([])
  })

  test('a forking node returns logs with blocks of another branch', async () => {
    const truth = await logs(0, head)
    proxy.add({ fault: { kind: 'logs', how: 'forked' }, times: 1 })
    const forked = await logs(0, head)
    expect(forked.map(({ data }) => BigInt(data))).toEqual([6n, 7n, 8n])
    expect(forked.some(({ blockHash }) => truth.some((one) => one.blockHash === blockHash))).toBe(false)
    expect(await logs(0, head)).toEqual(truth)
  })

  test('a faulty node refuses ranges that are too long for it', async () => {
    const message = 'query returned more than 10000 results'
    const limited = proxy.add({ fault: { kind: 'log-range', blocks: 3, code: -32_005, message } })
    expect(await answer(0, 3)).toMatchObject({ error: { code: -32_005, message } })
    expect(await logs(0, 2)).toHaveLength(3)
    expect(limited.strikes).toBe(1)
  })

  test('a faulty node shows an old finality at a new head', async () => {
    const block = async (tag: string) => Number(((await ask('eth_getBlockByNumber', [tag, false])).result as { number: string }).number)
    const [finalized, safe] = [await block('finalized'), await block('safe')]
    proxy.add({ fault: { kind: 'finality-behind', blocks: 2 } })
    expect([await block('latest'), await block('safe'), await block('finalized')]).toEqual([head, safe - 2, finalized - 2])
    expect(await block(hex(head))).toBe(head)
    const count = (tag: string) => ask('eth_getTransactionCount', [devnetAccount(accountIndex.deployer).address, tag])
    expect((await count('finalized')).result).toBe((await count(hex(finalized - 2))).result)
  })
})
