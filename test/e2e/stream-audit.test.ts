import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { runCli } from '../cli/run-cli.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { settingsReach } from '../helpers/e2e-settings.ts'

const [there, back] = ['native-bridge:ethereum:bsc', 'native-bridge:bsc:ethereum']

/** One stream has an agent, and the other has none. An operator audits the stream without an agent. */
describe('A native bridge', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess

  const stream = async (...argv: string[]) => {
    const setting = { env: { ...process.env, ...stage.devnet.env } }
    const { code, out, err } = await runCli(['stream', ...argv, '--json', '--config', portage.configPath], setting)
    return { code, err, answer: JSON.parse(out) as Record<string, unknown> }
  }
  const send = (...amounts: bigint[]) => stage.devnet.native!.users.ethereum.send(amounts.map((amount) => ({ amount })))
  const view = async () => (await stream('show', there)).answer['view'] as Record<string, unknown>
  const metric = async (api: PortageProcess, series: string) => {
    const lines = (await (await fetch(`${api.apiUrl}/metrics`)).text()).split('\n')
    return lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1]
  }

  beforeAll(async () => {
    // A scheduled audit would hide whether the ordered audit works.
    stage = await startStage({ native: 'fixed', wormhole: false, auditMinutes: 60, blockTimeSeconds: 0.5 })
    portage = await stage.portage()
  })
  afterAll(() => stage?.close())

  test('both streams of a native bridge are listed, with rising watermarks in list and metrics', async () => {
    await send(5n, 6n, 7n)
    await until(async () => (await view())['completed_nonce_height'] === '3', { timeoutMs: 90_000, what: 'the watermark to be 3' })
    // Temporal's list lags behind starts, and on a busy machine the cursor lags behind the head, so wait for both.
    const caughtUp = async () => {
      const { streams } = (await stream('list')).answer as { streams: { stream: string; lag?: number }[] }
      return streams.length > 1 && (streams.find((row) => row.stream === there)?.lag ?? Infinity) < 30 && streams
    }
    const streams = await until(caughtUp, { timeoutMs: 60_000, what: 'both streams to be listed, and the cursor near the head' })
    expect(streams.map((row) => row.stream)).toEqual([back, there])
    expect(streams[1]).toMatchObject({ open: 0, parked: 0, gaps: {}, alarms: [], completed_nonce_height: '3', lag: expect.any(Number) })
    const height = `portage_stream_completed_nonce_height{stream="${there}"}`
    await until(async () => (await metric(portage, height)) === '3', { timeoutMs: 60_000, what: 'the metric of the watermark' })
    expect(await metric(portage, `portage_stream_alarm{stream="${there}",kind="forked"}`)).toBe('0')
    expect(await metric(portage, 'portage_chain_quorum{chain="ethereum"}')).toBe('1')
  })

  test('an ordered audit of a sound stream finds nothing; a stream without a route does not exist', async () => {
    expect(await stream('audit', there)).toMatchObject({
      code: 0,
      answer: { stream: there, upTo: '3', gaps: 0, completed: 0, started: 0, closed: 0, undone: 0 },
    })
    const over = await fetch(`${portage.apiUrl}/v1/streams/${there}/audit`, { method: 'POST', headers: portage.admin })
    expect([over.status, await over.json()]).toMatchObject([
      200,
      { stream: there, upTo: '3', gaps: 0, completed: 0, started: 0, undone: 0 },
    ])
    const unknown = await stream('audit', 'native-bridge:ethereum:ethereum')
    expect(unknown).toMatchObject({ code: 1, answer: { error: { code: 'STREAM_NOT_FOUND' } } })
  })

  test('an ordered audit starts missing open transfers again, while no intake runs', async () => {
    const halt = (...argv: string[]) =>
      runCli([...argv, '--all', '--reason', 'a test', '--config', portage.configPath], { env: { ...process.env, ...stage.devnet.env } })
    expect(await halt('halt')).toMatchObject({ code: 0 })
    await settingsReach(stage, portage)
    const [one] = await send(8n)
    const id = nativeTransferId(one!)
    await until(async () => (await view())['open'] === 1, { timeoutMs: 90_000, what: 'the transfer to be open' })
    await stage.end(portage)
    const [api] = await Promise.all([stage.portage({ role: 'api', name: 'api' }), stage.portage({ role: 'ledger', name: 'ledger' })])
    await stage.temporal('workflow', 'terminate', '--workflow-id', id, '--reason', 'a test')

    const again = async () => {
      const { code, answer } = await stream('audit', there)
      return answer['started'] === 1 && { code, answer }
    }
    expect(await until(again, { timeoutMs: 90_000, what: 'the audit to start it again' })).toMatchObject({ code: 0, answer: { gaps: 0 } })
    expect((await stage.client.workflow.getHandle(id).describe()).status.name).toBe('RUNNING')
    // The API process only reads streams, so the metric comes from the stream's state.
    const isOpen = async () => (await metric(api, `portage_stream_open{stream="${there}"}`)) === '1'
    await until(isOpen, { timeoutMs: 60_000, everyMs: 500, what: 'the metric to report it' })
  })
})
