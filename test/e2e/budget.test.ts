import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { HistoryEvent } from '../../temporal/client/runs.ts'
import { inPool, mine, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'
import { startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const
const coins = (count: number) => Array.from({ length: count }, () => coin)

/** What a transfer costs the Temporal server, by the server's own count (DESIGN §3). */
const budget = { near: { stateTransitions: 8, historyEvents: 26 }, far: { stateTransitions: 12, historyEvents: 26 } }

/**
 * When `broadcast` tells that it lives, ms from its start (activities/transfer/broadcast.ts). Each time costs a transition, which is a slow machine's and none of
 * the way's.
 */
const heartbeats = { firstMs: 4_000, everyMs: 3_000 }

/** ethereum is final two blocks behind its head, bsc 70: further than `broadcast` follows. */
describe('What a transfer costs', () => {
  let stage: Stage
  let portage: PortageProcess

  const costs = (sent: readonly Sent[]) =>
    Promise.all(
      sent.map(async ({ id }) => {
        const handle = stage.client.workflow.getHandle(id)
        const [{ raw, historyLength }, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()])
        const info = raw.workflowExecutionInfo
        const stateTransitions = Number(info?.stateTransitionCount ?? Number.NaN)
        return { stateTransitions, historyEvents: historyLength, mostHeartbeats: mostHeartbeats(events ?? []) }
      }),
    )
  /** By visibility, not by queries: one that comes while a workflow runs its local activity costs that workflow a task. */
  const there = (query: string, wanted: number, timeoutMs: number) =>
    until(async () => (await stage.client.workflow.count(`WorkflowType = 'transfer' AND ${query}`)).count === wanted, {
      timeoutMs,
      everyMs: 200,
      what: `${wanted} transfers with ${query}`,
    })
  const rpcCalls = async () => {
    const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    return [...text.matchAll(/^portage_rpc_calls_total\{.*\} (\d+)/gm)].reduce((sum, [, value]) => sum + Number(value), 0)
  }

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, slotsInAnEpoch: { ethereum: 1, bsc: 35 } })
    await mine(stage.devnet.chains.bsc.anvil, 80)
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  test('near finality', async () => {
    const before = await rpcCalls()
    const sent = await stage.send('bsc', coins(20))
    await there("TransferState = 'delivered'", sent.length, 90_000)
    const spent = await costs(sent)
    const perTransfer = ((await rpcCalls()) - before) / sent.length
    console.info(`near finality: ${tell(spent)}; ${perTransfer.toFixed(1)} RPC calls per transfer, those per block among them`)
    for (const one of spent) expectWithin(one, budget.near)
    await expectDelivered(stage, sent)
  })

  test('far finality; and one whose block goes away while it waits is sent again at its nonce', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    const sent = await stage.send('ethereum', coins(10))
    await there("TransferState = 'included'", sent.length, 90_000)
    // Final before they look again: what follows takes as long as it takes, and a look that comes too early would cost one more.
    await mine(anvil, 70)
    await stopMining(anvil)
    const [undone] = (await stage.send('ethereum', [coin])) as [Sent]
    const [ours] = await inPool(anvil, lane, 1)
    await mine(anvil, 2)
    await stage.reaches(undone.id, 'included')
    await anvil.rpc('anvil_reorg', [2, []])
    await startMining(anvil)
    const again = async () => (await stage.devnet.check([undone])).delivered === 1
    await until(again, { timeoutMs: 60_000, everyMs: 100, what: 'the undone delivery to be in a block again' })
    await mine(anvil, 70)
    await there("TransferState = 'delivered'", stage.sent.length, 120_000)
    const ends = await stage.outcomes([...sent, undone])
    expect(ends.map(({ state, rounds }) => [state, rounds])).toEqual(ends.map(() => ['delivered', 1]))
    expect(ends.at(-1)?.nonce).toBe(ours!.nonce)
    const spent = await costs(sent)
    console.info(`far finality: ${tell(spent)}`)
    for (const one of spent) expectWithin(one, budget.far)
    await expectDelivered(stage)
  })
})

interface Cost {
  stateTransitions: number
  historyEvents: number
}

interface Spent extends Cost {
  /** Transitions of the state that heartbeats may have made. */
  mostHeartbeats: number
}

function expectWithin({ stateTransitions, historyEvents, mostHeartbeats: late }: Spent, most: Cost): void {
  expect(stateTransitions).toBeGreaterThan(0)
  expect(stateTransitions).toBeLessThanOrEqual(most.stateTransitions + late)
  expect(historyEvents).toBeLessThanOrEqual(most.historyEvents)
}

/** By the server's own times of the steps: none where all were through within four seconds. */
function mostHeartbeats(events: readonly HistoryEvent[]): number {
  const at = new Map(events.map(({ eventId, eventTime }) => [String(eventId), timeOf(eventTime)]))
  const took = events.flatMap(({ activityTaskCompletedEventAttributes: done, eventTime }) =>
    done ? [timeOf(eventTime) - (at.get(String(done.startedEventId)) ?? Number.NaN)] : [],
  )
  const beats = took.map((ms) => Math.max(0, Math.floor((ms - heartbeats.firstMs) / heartbeats.everyMs) + 1))
  return beats.reduce((sum, count) => sum + count, 0)
}

/** ms since the epoch. */
function timeOf(time: HistoryEvent['eventTime']): number {
  return Number(time?.seconds ?? Number.NaN) * 1_000 + (time?.nanos ?? 0) / 1_000_000
}

function tell(costs: readonly Cost[]): string {
  const range = (values: readonly number[]) => `${Math.min(...values)}–${Math.max(...values)}`
  return `${range(costs.map((one) => one.stateTransitions))} state transitions, ${range(costs.map((one) => one.historyEvents))} history events`
}
