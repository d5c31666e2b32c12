import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer, Observation } from '../../domain/lane/messages.ts'
import type { LedgerClient } from '../../lanes/ledger-client.ts'
import { pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
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

/** No workflow is kept in memory: each task, and each look, replays the run, which shows whether a replay comes to the same ledger. */
describe('A ledger whose workflow is reset in Temporal', () => {
  let ledgers: Ledgers
  let lanes = 0

  beforeAll(async () => {
    ledgers = await startLedgers({ tuning: { maxCachedWorkflows: 0 } })
  })
  afterAll(() => ledgers?.stop())

  /** A ledger that has answered a process: `a` has nonce 0, `b` was refused while it was paused by a signal, `c` has nonce 1. */
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

  /** The process looks at the account, as it does when it hears that the ledger has not. */
  async function look(client: LedgerClient, height: number, changes: Partial<Observation>) {
    client.observe(observation({ height, hash: `0x${height}`, ...changes }))
    await until(() => (client.view?.height ?? 0) >= height, { timeoutMs: 60_000, what: `the ledger to hear of block ${height}` })
  }

  test('to its first task: what it had refused is not given, what it had given is not given again', async () => {
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

  test('to a task in between, and once more after that', async () => {
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

  test('in its second run: what the first gave is still known', async () => {
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
