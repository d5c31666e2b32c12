import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { laneId } from '../../domain/lane/lane.ts'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { setTokens } from '../../lab/stuck/scene.ts'
import {
  listOperatorTransactions,
  operatorTransactionResult,
  startOperatorTransaction,
} from '../../temporal/client/lanes/operator-transactions.ts'
import { runCli } from '../cli/run-cli.ts'
import { startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const ether = 10n ** 18n
const low = ether / 2n
const level = 3n * ether

/** The first lane of bsc tops up the second lane, at most twice a day. Both processes hold both keys. */
describe('Automatic top-ups and watched tokens', () => {
  let stage: Stage
  let processes: PortageProcess[]
  let [payer, poor]: string[] = []
  const rpc = <Result>(method: string, params: readonly unknown[]) => stage.devnet.chains.bsc.anvil.rpc<Result>(method, params)
  const balance = async (address: string) => BigInt(await rpc<string>('eth_getBalance', [address, 'latest']))
  const count = async (address: string) => Number(await rpc<string>('eth_getTransactionCount', [address, 'latest']))
  const drain = () => rpc('anvil_setBalance', [poor, `0x${low.toString(16)}`])
  const id = (address: string) => laneId('evm', stage.devnet.chains.bsc.anvil.chainId, address)
  const ordered = (closed = 10) => listOperatorTransactions(stage.client, id(payer!), closed)
  const logs = async () => (await Promise.all(processes.map(({ logFile }) => readFile(logFile, 'utf8')))).join('')
  const metrics = async () => (await fetch(`${processes.at(-1)!.adminUrl}/metrics`)).text()
  const due = () =>
    until(async () => (await metrics()).includes(`portage_lane_top_up_due{lane="${id(poor!)}"} 1`), {
      ...wait,
      what: 'the metric to show that the lane needs coins',
    })
  const wait = { timeoutMs: 90_000, everyMs: 200 }
  const full = () => until(async () => (await balance(poor!)) === level, { ...wait, what: 'the lane to be topped up' })

  const configure: PortageOptions['configure'] = (config) => {
    const bsc = config.chains['bsc']!
    const topUp = {
      ...{ from: payer!, minimum: String(ether), level: String(level) },
      ...{ maxPaymentWei: String(level - low), maxPerDayWei: String(2n * (level - low)) },
    }
    const watchTokens = [{ token: stage.devnet.chains.bsc.weth, symbol: 'WETH', decimals: 18, minimum: '50' }]
    return { ...config, chains: { ...config.chains, bsc: { ...bsc, signing: { topUps: true }, topUp, watchTokens } } }
  }

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, keysPerChain: 2 })
    ;[payer, poor] = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address)
    processes = [await stage.portage({ configure }), await stage.portage({ configure })]
  })
  afterAll(() => stage?.close())

  test('a drained lane gets one top-up to the configured level, by an order of automatic with a reason', async () => {
    const before = await count(payer!)
    await drain()
    await full()
    const done = async () => (await ordered()).find(({ status }) => status?.state === 'done')
    const row = await until(done, { ...wait, what: 'the payment to be final' })
    const reason = `top-up of ${id(poor!)}: it has ${low} wei, less than ${ether} wei`
    expect(row.status).toMatchObject({ by: 'automatic', reason, intent: { to: poor, value: String(level - low), data: '0x' } })
    expect([await count(payer!), (await ordered()).length]).toEqual([before + 1, 1])
    expect((await logs()).match(/"message":"a lane is topped up"/g)).toHaveLength(1)
  })

  test('a payment in flight is not made again, also after all processes were killed', async () => {
    const before = await count(payer!)
    await stopMining(stage.devnet.chains.bsc.anvil)
    await drain()
    const isOpen = async () => (await ordered(0)).some(({ execution, status }) => execution === 'RUNNING' && status?.state === 'pending')
    await until(isOpen, { ...wait, what: 'the payment to be in flight' })
    for (const one of processes) await stage.end(one, 'SIGKILL')
    processes.push(await stage.portage({ configure }))
    await due()
    await startMining(stage.devnet.chains.bsc.anvil)
    await full()
    await until(async () => (await ordered(0)).length === 0, { ...wait, what: 'the payment to be final' })
    expect([await count(payer!), (await ordered()).length]).toEqual([before + 1, 2])
  })

  test('beyond the limit of a day the lane stays low, which the log and a metric show', async () => {
    const before = await count(payer!)
    await drain()
    const isHeld = async () => /"code":"TOP_UP_HELD".*maxPerDayWei|maxPerDayWei.*"code":"TOP_UP_HELD"/.test(await logs())
    await until(isHeld, { ...wait, what: 'the log to show the limit' })
    await due()
    expect([await balance(poor!), await count(payer!), (await ordered()).length]).toEqual([low, before, 2])
  })

  test("the key refuses forged top-ups above a payment's or day's limit, or from a lane that may not pay", async () => {
    const forge = async (from: string, to: string, value: bigint) => {
      const order = { by: 'automatic', reason: 'forged' }
      const given = { lane: id(from), intent: { to, data: '0x', value: String(value) } }
      return operatorTransactionResult(stage.client, await startOperatorTransaction(stage.client, given, order))
    }
    const before = [await balance(poor!), await count(payer!), await count(poor!)]
    const refusedBy = (field: string) => ({ state: 'refused', detail: expect.stringContaining(`chains.bsc.topUp.${field}`) })
    expect(await forge(payer!, poor!, level - low + 1n)).toMatchObject(refusedBy('maxPaymentWei'))
    expect(await forge(payer!, poor!, 1n)).toMatchObject(refusedBy('maxPerDayWei'))
    expect(await forge(poor!, payer!, 1n)).toMatchObject(refusedBy('from'))
    expect([await balance(poor!), await count(payer!), await count(poor!)]).toEqual(before)
  })

  test('tokens of a lane are shown and exported, and a low balance is a cause', async () => {
    const { weth, anvil } = stage.devnet.chains.bsc
    const [portage] = processes.slice(-1) as [PortageProcess]
    const cli = (...args: string[]) => runCli([...args, '--config', portage.configPath], { env: { ...process.env, ...stage.devnet.env } })
    const low = async () => {
      const { causes } = (await cli('stuck', '--json')).json() as { causes: { code: string; where: { id: string } }[] }
      return causes.filter(({ code }) => code === 'LANE_TOKEN_LOW').map(({ where }) => where.id)
    }
    expect((await low()).toSorted()).toEqual([id(payer!), id(poor!)].toSorted())
    await setTokens(anvil, weth, poor!, 60n)
    const isRead = async () =>
      (await metrics()).includes(`portage_lane_token_balance{lane="${id(poor!)}",token="${weth.toLowerCase()}"} 60`)
    await until(isRead, { ...wait, what: 'the metric to show the tokens' })
    expect(await metrics()).toContain(`portage_lane_token_minimum{lane="${id(poor!)}",token="${weth.toLowerCase()}"} 50`)
    expect(await low()).toEqual([id(payer!)])
    expect((await cli('lane', 'show', poor!, '--chain', 'bsc')).out).toMatch(/tokens +0\.00000000000000006 WETH\n/)
    expect((await cli('lane', 'show', payer!, '--chain', 'bsc')).out).toMatch(/tokens +0 WETH \(below its minimum\)\n/)
    const { lanes } = (await (await fetch(`${portage.apiUrl}/v1/lanes`, { headers: portage.admin })).json()) as {
      lanes: { lane: string; tokens?: object[] }[]
    }
    expect(lanes.find(({ lane }) => lane === id(poor!))?.tokens).toEqual([
      { token: weth.toLowerCase(), symbol: 'WETH', decimals: 18, balance: '60', minimum: '50' },
    ])
  })
})
