import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import { until } from '../../lab/devnet/until.ts'
import { streamViewQuery, streamWorkflowId } from '../../temporal/contracts/stream.ts'
import { expectAllProved, sendNatives } from '../helpers/e2e-native.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

/** The only node of the source hides logs of final blocks, so that the scan passes them by. The contract's own table does not lie. */
describe('a node hides logs of the source', () => {
  let stage: Stage
  let portage: PortageProcess
  const sent: SentNativeTransfer[] = []

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', nodesPerChain: 1, auditMinutes: 0.1 })
    portage = await stage.portage()
  })

  afterEach(() => stage.devnet.nodes.ethereum.forEach((node) => node.clear()))
  afterAll(() => stage?.close())

  const view = () => stage.client.workflow.getHandle(streamWorkflowId('native-bridge:ethereum:bsc')).query(streamViewQuery)
  const hidden = async () => (await readFile(portage.logFile, 'utf8')).split('a node hides logs').length - 1
  /** The log comes to its file after the process has gone on. */
  const loggedAfter = (before: number) =>
    until(async () => (await hidden()) > before, { timeoutMs: 30_000, what: 'the log to tell that a node hides logs' })

  test('one of three: it is found, the log says so, and it is delivered while the node still hides it', async () => {
    const [node] = stage.devnet.nodes.ethereum
    const hiding = node?.add({ fault: { kind: 'logs', how: 'one-less' } })
    sent.push(...(await sendNatives(stage, 'ethereum', 3)))
    await expectAllProved(stage, sent)
    expect(hiding?.strikes).toBeGreaterThan(0)
    await loggedAfter(0)
    const isCalm = async () => (await view()).alarms.length === 0
    await until(isCalm, { timeoutMs: 60_000, everyMs: 250, what: 'the stream to have no alarm' })
    expect(await view()).toMatchObject({ completedNumber: '3', gaps: {}, alarms: [] })
  })

  test('all of them, in every range: only the table shows it', async () => {
    const before = await hidden()
    const [node] = stage.devnet.nodes.ethereum
    node?.add({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] })
    sent.push(...(await sendNatives(stage, 'ethereum', 4)))
    await expectAllProved(stage, sent)
    await loggedAfter(before)
    expect(await hidden()).toBeGreaterThan(before)
  })

  test('the last one that there is: nothing higher shows that it is missing', async () => {
    const before = await hidden()
    const [node] = stage.devnet.nodes.ethereum
    node?.add({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] })
    sent.push(...(await sendNatives(stage, 'ethereum', 1)))
    const passedBy = async () => ((await view()).nextHeight ?? 0) > (sent.at(-1)?.height ?? 0)
    await until(passedBy, { timeoutMs: 60_000, everyMs: 250, what: 'the scan to have passed its block' })
    await expectAllProved(stage, sent)
    await loggedAfter(before)
    expect(await hidden()).toBe(before + 1)
  })
})
