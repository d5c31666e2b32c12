import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { runCli } from '../cli/run-cli.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const coins = (count: number) => Array.from({ length: count }, () => ({ kind: 'coin', amount: 10n ** 16n }) as const)

/** The audited emitter has no agent, so only the audit can start its transfers. */
describe('portage stream audit of a Wormhole stream', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let stream: string

  const audit = async () => {
    const setting = { env: { ...process.env, ...stage.devnet.env } }
    const { code, out } = await runCli(['stream', 'audit', stream, '--json', '--config', portage.configPath], setting)
    return { code, answer: JSON.parse(out) as Record<string, unknown> }
  }
  const show = async () => {
    const { out } = await runCli(['stream', 'show', stream, '--json', '--config', portage.configPath])
    return JSON.parse(out) as { next: string; view: Record<string, unknown>; open: { number: string }[] }
  }
  const isRunning = async (id: string) => (await stage.client.workflow.getHandle(id).describe()).status.name === 'RUNNING'

  beforeAll(async () => {
    // A scheduled audit would hide whether the ordered audit works.
    stage = await startStage({ auditMinutes: 60 })
    stream = `wormhole-token-bridge:ethereum:${toUniversal(stage.devnet.chains.ethereum.tokenBridge)}`
    portage = await stage.portage()
    const first = await stage.send('ethereum', coins(1))
    await stage.outcomes(first)
    const sequence = String(first[0]?.sequence)
    const isProved = async () => (await show()).view['completed_nonce_height'] === sequence
    await until(isProved, { timeoutMs: 90_000, what: 'the watermark' })
    await stage.end(portage)
    portage = await stage.portage({ role: 'ledger', name: 'ledger' })
  })
  afterAll(() => stage?.close())

  test('an ordered audit starts messages that no process has seen once, and says how many', async () => {
    const sent = await stage.send('ethereum', coins(2))
    const upTo = String(sent.at(-1)?.sequence)
    const counted = async () => {
      const { code, answer } = await audit()
      return code === 0 && answer['upTo'] === upTo && answer['gaps'] === 0 && answer
    }
    // The audit counts in the finalized state, and servers may be slow, so the first audits may show gaps.
    const answer = await until(counted, { timeoutMs: 90_000, everyMs: 500, what: 'the count to be final, without a gap' })
    expect([answer['undone'], answer['height']]).toEqual([0, expect.any(Number)])
    expect((await show()).open.map(({ number }) => number)).toEqual(sent.map(({ sequence }) => String(sequence)))
    for (const { id } of sent) expect(await isRunning(id)).toBe(true)
    expect(await audit()).toMatchObject({ code: 0, answer: { stream, upTo, gaps: 0, started: 0, completed: 0, closed: 0, undone: 0 } })
  })

  test('an ordered audit starts missing open transfers again at its first check', async () => {
    const [one] = stage.sent.slice(-1)
    const id = one?.id ?? ''
    await stage.temporal('workflow', 'terminate', '--workflow-id', id, '--reason', 'a test')
    const isListed = async () => (await stage.client.workflow.count(`WorkflowId = '${id}' AND ExecutionStatus = 'Terminated'`)).count === 1
    await until(isListed, { timeoutMs: 60_000, what: 'the visibility store to know it' })
    expect(await audit()).toMatchObject({ code: 0, answer: { started: 1, gaps: 0 } })
    expect(await isRunning(id)).toBe(true)
  })

  test('an audit of an unknown stream ends with 1', async () => {
    const unknown = await runCli(['stream', 'audit', `${stream.slice(0, -2)}ff`, '--json', '--config', portage.configPath])
    expect([unknown.code, JSON.parse(unknown.out)]).toEqual([1, { error: expect.objectContaining({ code: 'STREAM_NOT_FOUND' }) }])
  })

  test('transfers that an audit started are delivered once', async () => {
    await stage.portage({ name: 'all' })
    const outcomes = await stage.outcomes(stage.sent)
    expect(outcomes.map(({ state }) => state)).toEqual(stage.sent.map(() => 'delivered'))
  })
})
