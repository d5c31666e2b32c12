import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SettingsOrder } from '../../domain/settings/settings.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { runCli } from '../cli/run-cli.ts'
import { inPool, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { type ChainKey, type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

describe('Settings that operators change at run time', () => {
  let stage: Stage
  let portage: PortageProcess
  /** `other` gets no orders through its API, so it learns of orders only from the settings. */
  let other: PortageProcess
  const anvil = () => stage.devnet.chains.bsc.anvil
  const laneAddress = () => stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address

  let warnings: unknown

  const cli = async (...args: string[]) => {
    const { code, err, json } = await runCli([...args, '--json', '--config', portage.configPath], { env: process.env })
    expect([code, err]).toEqual([0, ''])
    return json()
  }
  const post = (orders: readonly SettingsOrder[]) => {
    const headers = { 'content-type': 'application/json', ...portage.admin }
    return fetch(`${portage.apiUrl}/v1/settings`, { method: 'POST', headers, body: JSON.stringify({ reason: 'a test', orders }) })
  }
  const versionIn = async ({ apiUrl }: PortageProcess) =>
    Number(/^portage_settings_version(?:\{\})? (\d+)$/m.exec(await (await fetch(`${apiUrl}/metrics`)).text())?.[1])
  const change = async (...args: string[]) => {
    const { version, changed, warnings: given } = await cli(...args, '--reason', 'an exercise')
    expect(changed).toBe(true)
    warnings = given
    const seen = async () => (await Promise.all([portage, other].map(versionIn))).every((one) => one === version)
    await until(seen, { timeoutMs: 60_000, everyMs: 100, what: 'both processes to work by the change' })
  }
  const send = async (source: ChainKey = 'ethereum') => (await stage.send(source, [coin]))[0] as Sent
  const granted = async () => (await stage.lane('bsc')).counts.granted

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, window: 1, nodesPerChain: 1 })
    portage = await stage.portage()
    other = await stage.portage({ role: 'api' })
    await stage.outcomes([await send(), await send('bsc')])
  })
  afterEach(async () => {
    for (const node of stage.devnet.nodes.bsc) node.clear()
    await startMining(anvil())
    const { orders } = (await cli('settings', 'export')) as { orders: SettingsOrder[] }
    const undo = orders.flatMap((order): SettingsOrder[] => {
      if (order.kind === 'halt') return [{ ...order, kind: 'unhalt' }]
      if (order.kind === 'deny') return [{ ...order, kind: 'allow' }]
      if (order.kind === 'setFees') return [{ ...order, policy: {} }]
      return order.kind === 'setNode' ? [{ kind: 'clearNode', chain: order.change.chain, name: order.change.name }] : []
    })
    if (undo.length === 0) return
    const { ok, status } = await post(undo)
    if (!ok) throw new Error(`the settings were not put back: ${status}`)
  })
  afterAll(() => stage?.close())

  test('during a halt a transfer waits visibly without a nonce; after it, the transfer is delivered', async () => {
    const before = await granted()
    await change('halt', '--all')
    const sent = [await send(), await send('bsc')]
    for (const { id } of sent) {
      const status = await stage.reaches(id, 'waiting')
      expect(status).toMatchObject({ code: 'HALTED', reason: 'halted by night-shift: an exercise' })
      expect(status.nonce).toBeUndefined()
    }
    expect(await stage.submit(portage, await stage.vaa(sent[0]!))).toMatchObject({
      status: 200,
      body: { id: sent[0]!.id, status: 'known', halted: 'by night-shift: an exercise' },
    })
    const waiting = async () => ((await cli('transfer', 'list', '--state', 'waiting')) as { transfers: { id: string }[] }).transfers
    const listed = async () => (await waiting()).length === 2
    await until(listed, { timeoutMs: 60_000, everyMs: 200, what: 'both to be listed as waiting' })
    expect(await granted()).toBe(before)
    await expectNotDelivered(stage, sent)
    await change('unhalt', '--all')
    expect(await stage.outcomes(sent)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
    await expectDelivered(stage)
  })

  test('a halt that comes while the steps of an admission are tried one by one holds it too', async () => {
    const before = await granted()
    const [node] = stage.devnet.nodes.bsc
    // Both methods must fail, because Portage would simulate with an estimate if only `eth_call` failed.
    const methods = ['eth_call', 'eth_estimateGas']
    const calls = node!.add({ fault: { kind: 'error', code: -32_603, message: 'internal error', forward: false }, methods })
    const sent = await send()
    const stepByStep = async () => {
      const { events } = await stage.client.workflow.getHandle(sent.id).fetchHistory()
      return events?.some(({ activityTaskScheduledEventAttributes: step }) => step?.activityType?.name === 'validate') ?? false
    }
    await until(stepByStep, { timeoutMs: 90_000, everyMs: 100, what: 'the steps to be tried one by one' })
    await change('halt', '--chain', 'bsc')
    calls.end()
    const held = await stage.reaches(sent.id, 'waiting', 90_000)
    expect(held).toMatchObject({ code: 'HALTED', reason: 'halted by night-shift: an exercise' })
    expect(held.nonce).toBeUndefined()
    expect(await granted()).toBe(before)
    await change('unhalt', '--chain', 'bsc')
    await stage.outcomes([sent])
    await expectDelivered(stage)
  })

  test('a halted route leaves the other way alone', async () => {
    await change('halt', '--source', 'ethereum', '--target', 'bsc')
    const [held, free] = [await send(), await send('bsc')]
    await stage.outcomes([free])
    expect(await stage.reaches(held.id, 'waiting')).toMatchObject({ code: 'HALTED' })
    await expectNotDelivered(stage, [held])
    await change('unhalt', '--source', 'ethereum', '--target', 'bsc')
    await stage.outcomes([held])
    await expectDelivered(stage)
  })

  test('a halt of a chain that the config lacks holds every transfer until it is ended', async () => {
    const former = { bridges: [], lanes: [], nodes: { former: [] } }
    const orders: SettingsOrder[] = [{ kind: 'halt', scope: { sourceChain: 'former' } }]
    const { after } = await changeSettings(stage.client, former, { by: 'night-shift', reason: 'an exercise', orders })
    const seen = async () => (await Promise.all([portage, other].map(versionIn))).every((one) => one === after.version)
    await until(seen, { timeoutMs: 60_000, everyMs: 100, what: 'both processes to work by the change' })
    const held = await send()
    expect(await stage.reaches(held.id, 'waiting')).toMatchObject({ code: 'HALTED', reason: expect.stringContaining('the chain former') })
    await expectNotDelivered(stage, [held])
    await change('unhalt', '--source', 'former')
    await stage.outcomes([held])
    await expectDelivered(stage)
  })

  test('a halt that comes while a transfer waits for its nonce keeps it from being signed', async () => {
    await stopMining(anvil())
    const first = await send()
    await inPool(anvil(), laneAddress(), 1)
    const second = await send()
    await stage.reaches(second.id, 'broadcasting')
    await change('halt', '--chain', 'bsc')
    await startMining(anvil())
    await stage.outcomes([first])
    const held = async () => {
      const { state, code } = await stage.status(second.id)
      return state === 'waiting' && code === 'HALTED'
    }
    // The transfer notices the halt only after it has waited a minute for a slot.
    await until(held, { timeoutMs: 90_000, everyMs: 100, what: `${second.id} to be held by the halt` })
    await expectNotDelivered(stage, [second])
    expect((await stage.lane('bsc')).counts.filled).toBe(0)
    await change('unhalt', '--chain', 'bsc')
    await stage.outcomes([second])
    await expectDelivered(stage)
  })

  test('a signed transaction is mined although the lane is halted: the lane has to use its nonce', async () => {
    await stopMining(anvil())
    const sent = await send()
    await inPool(anvil(), laneAddress(), 1)
    await change('halt', '--all')
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
    await change('unhalt', '--all')
  })

  test('a transfer to a denied recipient is declined; once allowed again, a retry delivers it', async () => {
    await change('halt', '--all')
    const [denied, other] = [await send(), await send()]
    await stage.reaches(denied.id, 'waiting')
    await change('deny', 'recipient', `bsc/${denied.recipient}`)
    await change('unhalt', '--all')
    expect(await stage.outcomes([denied, other])).toMatchObject([
      { state: 'declined', code: 'RECIPIENT_DENIED', reason: expect.stringContaining('by night-shift: an exercise') },
      { state: 'delivered' },
    ])
    await expectNotDelivered(stage, [denied])
    await change('allow', 'recipient', `bsc/${denied.recipient}`)
    await cli('transfer', 'retry', denied.id, '--reason', 'a test')
    expect(await stage.outcomes([denied])).toMatchObject([{ state: 'delivered' }])
    await expectDelivered(stage)
  })

  test('a transfer of a denied token is declined', async () => {
    const before = await send()
    const token = before.origin
    // The denial must come after the admission of `before` and before the admission of `sent`.
    await stage.outcomes([before])
    await change('deny', 'token', token)
    const sent = await send()
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'declined', code: 'TOKEN_DENIED' }])
    await change('allow', 'token', token)
    await cli('transfer', 'retry', sent.id, '--reason', 'a test')
    await stage.outcomes([sent])
    await expectDelivered(stage)
  })

  test('nodes are added, listed, disabled and removed without a restart', async () => {
    type Listed = { asOf: string; nodes: { name: string; state: string; source: string; asOf?: string }[] }
    const nodes = async () => {
      const { asOf, nodes: all } = (await cli('node', 'list', '--chain', 'bsc')) as Listed
      for (const one of all) if (one.asOf !== undefined) expect(Date.parse(asOf) - Date.parse(one.asOf)).toBeGreaterThanOrEqual(0)
      expect(all.every((one) => one.asOf !== undefined || one.state === 'disabled')).toBe(true)
      return all
    }
    const listed = (wanted: string) =>
      until(async () => (await nodes()).map(({ name, state, source }) => `${name} ${state} ${source}`).join(', ') === wanted, {
        timeoutMs: 60_000,
        everyMs: 200,
        what: `the nodes to be ${wanted}`,
      })
    await change('node', 'add', 'bsc', 'spare', anvil().url)
    await listed('node-1 up config, spare up added')
    await stage.outcomes([await send(), await send('bsc')])
    await change('node', 'disable', 'bsc', 'node-1')
    const tooFew = [expect.stringContaining('bsc has no enabled node in the config for reads')]
    expect(warnings).toEqual(tooFew)
    const again = await post([{ kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: true } }])
    expect(await again.json()).toMatchObject({ warnings: tooFew })
    await listed('node-1 disabled config, spare up added')
    // A chain needs a node of the config. A node that only the settings name does not suffice, so new transfers wait.
    const waiting = await send()
    await change('node', 'enable', 'bsc', 'node-1')
    await stage.outcomes([waiting])
    await change('node', 'remove', 'bsc', 'spare')
    await listed('node-1 up config')
    await expectDelivered(stage)
  })

  test('the list of orders names who changed what; an export can be imported', async () => {
    await change('halt', '--target', 'bsc', '--bridge', 'wormhole-token-bridge')
    await change('fees', 'set', '--scope', 'chain:bsc', '--max-tip', '3gwei')
    await change('fees', 'set', '--scope', 'chain:bsc', '--gas-factor', '1.5')
    expect(await cli('fees', 'show')).toMatchObject({ fees: [{ policy: { maxTip: '3000000000', gasFactor: 1.5 } }] })
    const { orders } = await cli('settings', 'export')
    const { audit } = (await cli('settings', '--audit')) as { audit: object[] }
    expect(audit.slice(0, 3)).toMatchObject([
      { by: 'night-shift', reason: 'an exercise', order: { kind: 'setFees', policy: { maxTip: '3000000000', gasFactor: 1.5 } } },
      { order: { kind: 'setFees', policy: { maxTip: '3000000000' } } },
      { order: { kind: 'halt' } },
    ])
    await change('unhalt', '--target', 'bsc', '--bridge', 'wormhole-token-bridge')
    await change('fees', 'clear', '--scope', 'chain:bsc')
    const stdin = JSON.stringify({ orders })
    const args = ['settings', 'import', '-', '--reason', 'an exercise', '--json', '--config', portage.configPath]
    expect((await runCli(args, { env: process.env, stdin })).json()).toMatchObject({
      changed: true,
      halts: [{ scope: { targetChain: 'bsc', bridge: 'wormhole-token-bridge' } }],
      fees: [{ policy: { maxTip: '3000000000', gasFactor: 1.5 } }],
    })
  })
})
