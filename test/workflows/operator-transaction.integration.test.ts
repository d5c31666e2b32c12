import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import type {
  OperatorTransactionInput,
  OperatorTransactionStatus,
  SendOperatorTransactionInput,
  SendOperatorTransactionResult,
} from '../../temporal/contracts/operator-transaction.ts'
import { until } from '../../lab/devnet/until.ts'
import { operatorTransactionResult, startOperatorTransaction, startTopUp } from '../../temporal/client/lanes/operator-transactions.ts'
import { currentDetails, summaries } from '../helpers/e2e-web-ui.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'

const lane = `evm-1:0x${'11'.repeat(20)}`
const intent = { to: `0x${'7e'.repeat(20)}`, data: '0x', value: '7' }
const asked: SendOperatorTransactionInput[] = []
let ledgers: Ledgers
let worker: Worker
let running: Promise<void>

const noSlot: SendOperatorTransactionResult = { kind: 'no-slot', code: 'LANE_NONE', reason: 'a test' }
/** Takes the payment only at every second check. */
const atSecondLook = (): SendOperatorTransactionResult =>
  asked.length % 2 === 1 ? noSlot : { kind: 'final', nonce: 0, ok: true, txHash: '0x', blockHeight: 1, blockHash: '0x', gasPaid: '1' }
let answer: (input: SendOperatorTransactionInput) => SendOperatorTransactionResult = atSecondLook

async function sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult> {
  asked.push(input)
  return answer(input)
}

beforeAll(async () => {
  // Temporal suggests a new run after the first check.
  ledgers = await startLedgers({ dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': '8' } })
  const { connection } = ledgers.temporal
  worker = await Worker.create({ connection, taskQueue: laneQueue(lane), activities: { sendOperatorTransaction }, shutdownGraceTime: 0 })
  running = worker.run()
})

afterAll(async () => {
  worker?.shutdown()
  await running
  await ledgers?.stop()
})

async function inTwoRuns(workflowId: string, progress?: OperatorTransactionInput['progress']) {
  asked.splice(0)
  const input: OperatorTransactionInput = { lane, intent, by: 'a test', reason: 'a test', ...(progress && { progress }) }
  const handle = await ledgers.temporal.client.workflow.start<(given: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>(
    'operatorTransaction',
    { taskQueue: ledgerQueue, workflowId, args: [input] },
  )
  const status = await handle.result()
  const { events } = await ledgers.temporal.client.workflow.getHandle(workflowId, handle.firstExecutionRunId).fetchHistory()
  expect(events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes).toBeTruthy()
  const { seconds, nanos } = events?.[0]?.eventTime ?? {}
  return { status, startedAt: Number(seconds) * 1000 + Math.floor((nanos ?? 0) / 1e6) }
}

test('an operator transaction is as old as its order in every run', async () => {
  const { status, startedAt } = await inTwoRuns('operator-transaction:two-runs')
  expect(asked.map(({ orderedAt }) => orderedAt)).toEqual([startedAt, startedAt])
  expect(status).toMatchObject({ state: 'done', orderedAt: startedAt })
})

test("Temporal's own cancel is an order to end it, and a reason of any length is shown", async () => {
  const { client } = ledgers.temporal
  asked.splice(0)
  answer = ({ cancel }) => (cancel ? { kind: 'withdrawn' } : noSlot)
  const reason = '[漢](https://evil.test) '.repeat(20).slice(0, 500)
  const id = await startOperatorTransaction(client, { lane, intent }, { by: 'a test', reason })
  await until(() => asked.length > 0, { timeoutMs: 60_000, what: 'the first look' })
  await client.workflow.getHandle(id).cancel()
  const ended = { state: 'cancelled', cancelledBy: { by: 'unnamed', reason: 'cancelled through Temporal' } }
  expect(await operatorTransactionResult(client, id)).toMatchObject(ended)
  expect(asked.at(-1)?.cancel).toBe(true)
  const { raw } = await client.workflow.getHandle(id).describe()
  expect(raw.workflowExecutionInfo?.status).toBe(2)
  const said = await summaries(client, id, 'any')
  expect(said.length).toBeGreaterThan(0)
  expect(said).not.toContain('')
  const details = await currentDetails(client, id)
  expect(details).toContain('**cancelled** cancelled by unnamed: cancelled through Temporal; nothing was sent')
  expect(details).toContain('\\[漢\\](https\\[:\\]//evil.test)')
  expect(details).toContain(`[lane ${lane}](/namespaces/default/workflows/lane%3A${lane.replace(':', '%3A')})`)
})

test('a lane has one open top-up at a time, and none soon after one that failed', async () => {
  const { client } = ledgers.temporal
  asked.splice(0)
  answer = () => noSlot
  const onlyBelow = { address: intent.to, minimum: '9' }
  const order = () => startTopUp(client, { lane, intent, onlyBelow }, { by: 'automatic', reason: 'a test' })
  const ids = await Promise.all([order(), order(), order()])
  const [id] = ids.filter((one) => one !== undefined)
  expect(ids.filter((one) => one === undefined)).toHaveLength(2)
  await until(() => asked.length > 0, { timeoutMs: 60_000, what: 'the first look' })
  expect(await order()).toBeUndefined()
  answer = () => ({ kind: 'final', nonce: 0, ok: true, txHash: '0x', blockHeight: 1, blockHash: '0x', gasPaid: '1' })
  expect(await operatorTransactionResult(client, id!)).toMatchObject({ state: 'done', by: 'automatic' })
  const [first] = asked.splice(0)
  answer = () => ({ kind: 'impossible', reason: 'a test' })
  expect(await order()).toBe(id)
  expect(await operatorTransactionResult(client, id!)).toMatchObject({ state: 'impossible' })
  // The new payment needs an intent of its own, or it would count as already paid.
  expect(asked.map(({ intentId }) => intentId)).not.toContain(first?.intentId)
  expect(asked[0]?.onlyBelow).toEqual(onlyBelow)
  expect(await order()).toBeUndefined()
})
