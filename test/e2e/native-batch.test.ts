import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { untilInBatches } from '../helpers/e2e-batches.ts'
import { nonceOf, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { runCli } from '../cli/run-cli.ts'
import { type ChainKey, type Stage, ledgerId, startStage } from '../helpers/e2e.ts'

const bridge = 'native-bridge'

/** The test submits all transfers together through REST. Only transfers to bsc are batched. */
describe('Completions in batches', { timeout: 300_000 }, () => {
  let stage: Stage
  let api: PortageProcess
  let lane: PortageProcess
  const sent: SentNativeTransfer[] = []

  const configure: PortageOptions['configure'] = (config) => {
    const routes = config.bridges[bridge]?.routes ?? []
    return {
      ...config,
      bridges: { [bridge]: { routes: routes.map(({ batch, ...route }) => (route.target === 'bsc' ? { ...route, batch } : route)) } },
    }
  }
  const start = (role: NonNullable<PortageOptions['role']>, options: PortageOptions = {}) =>
    stage.portage({ role, name: role, configure, ...options })

  async function initiate(source: ChainKey, count: number): Promise<SentNativeTransfer[]> {
    const amounts = Array.from({ length: count }, (_, index) => ({ amount: BigInt(index + 1) }))
    const transfers = await stage.devnet.native!.users[source].send(amounts)
    sent.push(...transfers)
    return transfers
  }

  async function submit({ source, target, nonce }: SentNativeTransfer): Promise<void> {
    const accepted = async () => {
      const response = await fetch(`${api.apiUrl}/v1/transfers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...api.admin },
        body: JSON.stringify({ bridge, source, target, nonce: String(nonce) }),
      })
      const text = await response.text()
      if (response.status === 503 && text.includes('NATIVE_NOT_FINAL')) return false
      expect([response.status, text]).toEqual([202, expect.any(String)])
      return true
    }
    await until(accepted, { timeoutMs: 90_000, everyMs: 200, what: `transfer ${nonce} of ${source} to be final` })
  }

  const address = (chain: ChainKey) => stage.devnet.lanes.find((one) => one.chain === chain)!.address.toLowerCase()
  const nonces = (chain: ChainKey) => nonceOf(stage.devnet.chains[chain].anvil, address(chain))
  const outcomes = (transfers: readonly SentNativeTransfer[]) => stage.outcomes(transfers.map(nativeTransferId), 120_000)
  const batchesOf = (ends: readonly TransferStatus[]) => new Set(ends.flatMap(({ batch }) => batch ?? []))

  async function cost(id: string): Promise<{ transitions: number; events: number }> {
    const { raw, historyLength } = await stage.client.workflow.getHandle(id).describe()
    return { transitions: Number(raw.workflowExecutionInfo?.stateTransitionCount ?? Number.NaN), events: historyLength }
  }
  async function costs(ids: Iterable<string>): Promise<string> {
    const all = await Promise.all([...ids].map(cost))
    const mean = (values: readonly number[]) => (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(1)
    const most = (values: readonly number[]) => Math.max(...values)
    const [transitions, events] = [all.map((one) => one.transitions), all.map((one) => one.events)]
    return `${mean(transitions)} state transitions (at most ${most(transitions)}), ${mean(events)} events`
  }

  async function listBatches(): Promise<{ batch: string; state: string; members: number }[]> {
    const args = ['lane', 'batches', address('bsc'), '--chain', 'bsc', '--closed', '100', '--json', '--config', api.configPath]
    const { code, out } = await runCli(args, { env: process.env })
    expect(code).toBe(0)
    return (JSON.parse(out) as { batches: { batch: string; state: string; members: number }[] }).batches
  }

  async function expectOnce(): Promise<void> {
    const { transfers, delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles } = await stage.devnet.check(sent)
    expect({ transfers, delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles }).toEqual({
      ...{ transfers: sent.length, delivered: sent.length, lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0 },
      nonceHoles: 0,
    })
  }

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', batch: 20, wormhole: false, blockTimeSeconds: 1 })
    const processes = await Promise.all([start('api'), start('ledger'), start('chain')])
    api = processes[0]
  })
  afterAll(() => stage?.close())

  test('after an outage, 60 transfers take few transactions; without a batch each has its own', async () => {
    const [there, back] = await Promise.all([initiate('ethereum', 60), initiate('bsc', 60)])
    await Promise.all([...there, ...back].map(submit))
    const waiting = async () => (await stage.client.workflow.count(`TransferState = 'broadcasting'`)).count === 120
    await until(waiting, { timeoutMs: 120_000, everyMs: 500, what: 'all of them to wait for the process with the keys' })
    lane = await start('lane')
    const [batched, single] = await Promise.all([outcomes(there), outcomes(back)])
    for (const end of [...batched, ...single]) expect(end).toMatchObject({ state: 'delivered', rounds: 1, delivery: { ours: true } })
    const batches = batchesOf(batched)
    const transactions = await nonces('bsc')
    expect([await nonces('ethereum'), batchesOf(single).size]).toEqual([60, 0])
    // At best, two transfers are delivered alone and all others share calls. On a slow machine, the calls are spread
    // over more blocks, so more transactions are needed.
    const heights = batched.map(({ delivery }) => delivery?.blockHeight ?? Number.NaN)
    const blocks = Math.max(...heights) - Math.min(...heights) + 1
    expect(transactions).toBeLessThanOrEqual(Math.min(40, Math.max(20, 4 * blocks)))
    for (const id of batches) {
      const members = batched.filter(({ batch }) => batch === id)
      expect(new Set(members.map(({ txHash, nonce, delivery }) => `${txHash} ${nonce} ${delivery?.gasPaid}`)).size).toBe(1)
    }
    const listed = await until(
      async () => {
        const rows = await listBatches()
        const done = new Set(rows.flatMap(({ batch, state }) => (state === 'done' ? [batch] : [])))
        return done.size === rows.length && [...batches].every((id) => done.has(id)) && rows
      },
      { timeoutMs: 60_000, everyMs: 200, what: 'every batch to be listed, and to know that it is over' },
    )
    expect(new Set(listed.map(({ batch }) => batch))).toEqual(batches)
    expect(listed.reduce((sum, { members }) => sum + members, 0)).toBe(batched.filter(({ batch }) => batch !== undefined).length)
    console.info(
      [
        `60 transfers in ${transactions} transactions, ${batches.size} of them batches: ${await costs(there.map(nativeTransferId))} per transfer`,
        `per batch ${await costs(batches)}; its lane ${await costs([ledgerId(stage.devnet, 'bsc')])}; without batches ${await costs(back.map(nativeTransferId))} per transfer, the lane ${await costs([ledgerId(stage.devnet, 'ethereum')])}`,
      ].join('; '),
    )
    await expectOnce()
  })

  test('a batch in the pool outlives the death of its process, and a cancel does not end what it delivers', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const before = await nonces('bsc')
    const transfers = await initiate('ethereum', 23)
    await stopMining(anvil)
    await Promise.all(transfers.map(submit))
    const { pool: held, members } = await untilInBatches(stage, transfers.length)
    const [cancelled] = members.flat().map((intentId) => intentId.replace(/[/]1$/, '')) as [string]
    await stage.end(lane, 'SIGKILL')
    lane = await start('lane', { name: 'lane-again' })
    await stage.client.workflow.getHandle(cancelled).signal('cancel', { order: { by: 'a test', reason: 'a change of mind' } })
    await startMining(anvil)
    const ends = await outcomes(transfers)
    expect(new Set(ends.map(({ state }) => state))).toEqual(new Set(['delivered']))
    // Every pooled transaction was mined and no other nonce was used, so nothing else was signed.
    const mined = new Set(ends.map(({ txHash }) => txHash))
    expect(held.map(({ hash }) => mined.has(hash))).toEqual(held.map(() => true))
    expect(await nonces('bsc')).toBe(before + held.length)
    await expectOnce()
  })
})
