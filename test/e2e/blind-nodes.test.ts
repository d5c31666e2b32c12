import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ActiveRule } from '../../lab/devnet/fault-proxy/rules.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { type AnySent, isNative } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { expectAllProved, sendNatives } from '../helpers/e2e-native.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const

/** Each chain has one node. When the process starts, the node of bsc does not answer. */
let stage: Stage
let portage: PortageProcess
let away: ActiveRule[]
const sent: AnySent[] = []

beforeAll(async () => {
  stage = await startStage({ native: 'fixed', nodesPerChain: 1, auditMinutes: 0.1 })
  away = stage.devnet.nodes.bsc.map((node) => node.add({ fault: { kind: 'cut' } }))
  portage = await stage.portage()
})
afterAll(() => stage?.close())

const readiness = async () => {
  const response = await fetch(`${portage.apiUrl}/ready`)
  return { status: response.status, body: (await response.json()) as { checks: { name: string; ok: boolean }[] } }
}

test('a process that starts without any node of a chain serves the other chains, and that one later', async () => {
  const isReady = async () => {
    const { status, body } = await readiness()
    return status === 200 && body.checks.filter(({ ok }) => !ok).length === 1 && body
  }
  // The process may become ready before it has seen a block of ethereum, so wait until only bsc is reported.
  const { checks } = await until(isReady, { timeoutMs: 60_000, what: 'all but one to be well' })
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'chain bsc', vital: false, problem: 'no block was seen yet' }])

  const [there, back] = await Promise.all([stage.send('ethereum', [coin]), stage.send('bsc', [coin])])
  sent.push(...there, ...back, ...(await sendNatives(stage, 'ethereum', 2)), ...(await sendNatives(stage, 'bsc', 2)))
  await stage.outcomes(back)
  // If bsc's node fails while the message is submitted, no workflow exists yet.
  const state = await stage.status((there[0] as Sent).id).then(
    (one) => one.state,
    () => 'not started',
  )
  expect(state).not.toBe('delivered')

  for (const rule of away) rule.end()
  // Each failed retry doubled the wait, up to half a minute, so these transfers may end late.
  await stage.outcomes(there, 120_000)
  await expectAllProved(stage, sent)
  await until(async () => (await readiness()).body.checks.every(({ ok }) => ok), {
    timeoutMs: 60_000,
    what: 'both chains to be seen',
  })
}, 300_000)

/** The source's only node hides logs of final blocks, so the scan misses transfers. The contract's table has them. */
describe('a node hides logs of the source', () => {
  beforeAll(() => away.forEach((rule) => rule.end()))
  afterEach(() => stage.devnet.nodes.ethereum.forEach((node) => node.clear()))

  const fromEthereum = () => sent.filter(isNative).filter(({ source }) => source === 'ethereum')
  const view = () => stage.client.workflow.getHandle(workflowIdOf(stage.client, 'native-bridge:ethereum:bsc')).query(streamViewQuery)
  const lines = async () => (await readFile(portage.logFile, 'utf8')).split('\n').filter((line) => line.includes('a node hides logs'))
  const hidden = async () => (await lines()).length
  /** Resolves once a new log line shows that the scan has continued. */
  const loggedAfter = (before: number) =>
    until(async () => (await hidden()) > before, { timeoutMs: 60_000, what: 'the log to report that a node hides logs' })

  test('one of three hidden logs is found, logged and delivered while the node still hides it', async () => {
    const before = await hidden()
    const [node] = stage.devnet.nodes.ethereum
    const hiding = node?.add({ fault: { kind: 'logs', how: 'one-less' } })
    sent.push(...(await sendNatives(stage, 'ethereum', 3)))
    await expectAllProved(stage, sent)
    expect(hiding?.strikes).toBeGreaterThan(0)
    await loggedAfter(before)
    const isCalm = async () => (await view()).alarms.length === 0
    await until(isCalm, { timeoutMs: 60_000, everyMs: 250, what: 'the stream to have no alarm' })
    expect(await view()).toMatchObject({ completedNumber: String(fromEthereum().length), gaps: {}, alarms: [] })
  })

  test('hidden logs in every range are found by the table alone', async () => {
    const before = await hidden()
    const [node] = stage.devnet.nodes.ethereum
    node?.add({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] })
    sent.push(...(await sendNatives(stage, 'ethereum', 4)))
    await expectAllProved(stage, sent)
    await loggedAfter(before)
    expect(await hidden()).toBeGreaterThan(before)
  })

  test('a hidden last log is found, although no higher number shows that it is missing', async () => {
    const [node] = stage.devnet.nodes.ethereum
    node?.add({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] })
    const [last] = await sendNatives(stage, 'ethereum', 1)
    sent.push(last!)
    const passedBy = async () => ((await view()).nextHeight ?? 0) > (fromEthereum().at(-1)?.height ?? 0)
    await until(passedBy, { timeoutMs: 60_000, everyMs: 250, what: 'the scan to have passed its block' })
    await expectAllProved(stage, sent)
    // A line of the previous test may be written late, so only lines with this test's number count.
    const ofLast = async () => (await lines()).filter((line) => line.includes(`"lowest":"${last!.nonce}"`))
    await until(async () => (await ofLast()).length > 0, { timeoutMs: 60_000, what: 'the log to report that a node hides it' })
    expect(await ofLast()).toHaveLength(1)
  })
})
