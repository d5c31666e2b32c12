import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import { kept } from '../../domain/lane/entries.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer, Observation } from '../../domain/lane/messages.ts'
import { carried } from '../../domain/lane/storage/pages.ts'
import type { LedgerClient } from '../../lanes/ledger/ledger-client.ts'
import { applyUpdate, type LaneInput, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId, ledgerQueue } from '../../temporal/contracts/names.ts'
import { firstKept, keptEntry, laneThatKeeps, quarterHour } from '../domain/kept-lane.ts'
import { resetRun } from './reset-run.ts'
import { laneOf, startLedgers, request, type Ledgers } from './setting.ts'

const requests = new Map(['a', 'b', 'c', 'd'].map((name) => [name, request(name)]))

function grant(name: string): Ask {
  const { owner, first: attempt } = requests.get(name)!
  return { kind: 'grant', owner, attempt }
}

function nonceOf(answer: LaneAnswer): number | string {
  return answer.kind === 'granted' ? answer.entry.nonce : answer.kind === 'refused' ? answer.why : answer.kind
}

function observation(changes: Partial<Observation> = {}): Observation {
  return { latest: 0, finalized: 0, height: 10, hash: '0x0a', balance: String(10n ** 24n), claims: [], since: 1, ...changes }
}

let ledgers: Ledgers

/** Without cached workflows, each task and each query replays the history. */
beforeAll(async () => {
  ledgers = await startLedgers({ tuning: { maxCachedWorkflows: 0 } })
})
afterAll(() => ledgers?.stop())

describe('A ledger whose workflow is reset in Temporal', () => {
  let lanes = 0

  async function used() {
    const config: LaneConfig = { lane: laneOf(devnetAccount(60 + lanes++)), window: 8, fillAfterBlocks: 100 }
    const client = ledgers.client(config)
    const handle = ledgers.temporal.client.workflow.getHandle(laneWorkflowId(config.lane))
    client.observe(observation({ pending: 0 }))
    await until(() => client.view?.synced, { timeoutMs: 60_000, what: 'the ledger to be synced' })
    const ask = async (name: string) => nonceOf(await client.ask(grant(name)))
    expect(await ask('a')).toBe(0)
    await handle.signal(pauseSignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect(await ask('b')).toBe('paused')
    await handle.signal(resumeSignal)
    expect(await ask('c')).toBe(1)
    return { client, ask, lane: config.lane }
  }

  async function look(client: LedgerClient, height: number, changes: Partial<Observation>) {
    client.observe(observation({ height, hash: `0x${height}`, ...changes }))
    await until(() => (client.view?.height ?? 0) >= height, { timeoutMs: 60_000, what: `the ledger to hear of block ${height}` })
  }

  test('a ledger reset to its first task grants no refused request, and no nonce twice', async () => {
    const { client, ask, lane } = await used()
    await resetRun(ledgers.temporal, laneWorkflowId(lane), 'first')
    expect(await ask('b')).toBe('unsynced')
    expect(await ledgers.state(lane)).toMatchObject({ synced: false, next: 2, entries: {}, counts: { granted: 2, external: 0 } })
    await look(client, 11, { pending: 2, claims: [0, 1] })
    expect(await ask('b')).toBe('unsynced')
    expect((await ledgers.state(lane)).entries).toMatchObject({ 0: { fill: 'inherited' }, 1: { fill: 'inherited' } })
    await look(client, 12, { latest: 2 })
    expect(await ask('b')).toBe(2)
    expect(await ask('b')).toBe(2)
  })

  test('a ledger can be reset to a task in between, and once more', async () => {
    const { client, ask, lane } = await used()
    await resetRun(ledgers.temporal, laneWorkflowId(lane), { afterUpdates: 2 })
    expect(await ask('b')).toBe('unsynced')
    expect(await ledgers.state(lane)).toMatchObject({ synced: false, next: 2, entries: {}, counts: { granted: 2, external: 0 } })
    await look(client, 11, { latest: 2, pending: 2 })
    expect(await ask('b')).toBe(2)
    await resetRun(ledgers.temporal, laneWorkflowId(lane), 'first')
    expect(await ask('d')).toBe('unsynced')
    expect(await ledgers.state(lane)).toMatchObject({ synced: false, next: 3, counts: { granted: 3 } })
    await look(client, 12, { latest: 3, pending: 3 })
    expect(await ask('d')).toBe(3)
    expect(await ledgers.state(lane)).toMatchObject({ next: 4, counts: { granted: 4, external: 0 } })
  })

  test('a ledger reset in its second run still knows the grants of the first', async () => {
    const config: LaneConfig = { lane: laneOf(devnetAccount(60 + lanes++)), window: 8, fillAfterBlocks: 100 }
    const client = ledgers.client(config, { updatesPerRun: 2 })
    client.observe(observation({ pending: 0 }))
    await until(() => client.view?.synced, { timeoutMs: 60_000, what: 'the ledger to be synced' })
    const ask = async (name: string) => nonceOf(await client.ask(grant(name)))
    expect([await ask('a'), await ask('b')]).toEqual([0, 1])
    await resetRun(ledgers.temporal, laneWorkflowId(config.lane), 'first')
    expect(await ask('a')).toBe(0)
    expect(await ask('c')).toBe('unsynced')
    await look(client, 11, { pending: 2 })
    expect((await ledgers.state(config.lane)).entries).toMatchObject({ 0: { owner: { intentId: 'a/1' } }, 1: { fill: 'inherited' } })
  })
})

describe('A ledger of which 18,000 nonces wait for a far finality', () => {
  test('a ledger with 18,000 unfinal nonces stays below 1.5 MiB and survives a deep reorganisation', async () => {
    const { workflow } = ledgers.temporal.client
    const lane = laneOf(devnetAccount(70))
    const entries = Array.from({ length: quarterHour }, (_, index) => keptEntry(index))
    const input: LaneInput = {
      config: { lane, window: 64, fillAfterBlocks: 20 },
      state: carried(laneThatKeeps(lane, entries)),
      updatesPerRun: 2,
    }
    const handle = await workflow.start('lane', { workflowId: laneWorkflowId(lane), taskQueue: ledgerQueue, args: [input] })
    const nextRun = async () => {
      const { execution } = (await workflow.getHandle(handle.workflowId).describe()).raw.workflowExecutionInfo ?? {}
      return execution?.runId
    }
    const renewed = (before: string | null | undefined) =>
      until(async () => (await nextRun()) !== before, { timeoutMs: 60_000, everyMs: 100, what: 'a new run' })

    const first = await nextRun()
    const asked = keptEntry(7_777)
    const { owner, attempts } = keptEntry(quarterHour)
    expect(await ledgers.order(lane, { kind: 'grant', id: 'x-1', owner: owner!, attempt: attempts[0]! })).toMatchObject({
      kind: 'granted',
      entry: { nonce: firstKept + quarterHour },
    })
    expect(await ledgers.order(lane, { kind: 'find', id: 'x-2', intentId: asked.owner!.intentId })).toEqual({
      kind: 'granted',
      entry: asked,
    })
    await renewed(first)

    const second = await nextRun()
    const state = await ledgers.state(lane)
    expect(kept(state)).toEqual({ kept: quarterHour + 1, keptLimit: 20_000 })
    const [started] = (await workflow.getHandle(handle.workflowId, second!).fetchHistory()).events ?? []
    const [payload] = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    expect(payload?.data?.length).toBeGreaterThan(1024 * 1024)
    expect(payload?.data?.length).toBeLessThan(1.5 * 1024 * 1024)

    const { observed } = state
    const seen = { ...observed!, claims: [], since: observed!.height + 1 }
    const tell = (observe: Observation) =>
      workflow.getHandle(handle.workflowId).executeUpdate(applyUpdate, { args: [{ observe, requests: [] }] })
    const fallen = await tell({ ...seen, latest: firstKept, height: observed!.height + 1 })
    expect(fallen.view).toMatchObject({ latest: firstKept, kept: quarterHour + 1 })
    expect(await ledgers.order(lane, { kind: 'find', id: 'x-3', intentId: asked.owner!.intentId })).toMatchObject({
      entry: { attempts: asked.attempts },
    })
    await renewed(second)
    const mined = await tell({
      ...seen,
      latest: firstKept + quarterHour,
      finalized: firstKept + quarterHour - 5,
      height: observed!.height + 2,
    })
    expect(mined.view).toMatchObject({ kept: 6, next: firstKept + quarterHour + 1 })
    await handle.terminate()
  })
})
