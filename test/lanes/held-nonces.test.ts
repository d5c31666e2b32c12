import { WorkflowNotFoundError } from '@temporalio/client'
import { afterEach, expect, test, vi } from 'vitest'
import { type LaneState, newLane } from '../../domain/lane/lane.ts'
import { createKeylessRequests } from '../../lanes/ledger/keyless-requests.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'

const lane = `evm-1:0x${'aa'.repeat(20)}`
const config = { lane, window: 16, fillAfterBlocks: 10 }
const hourMs = 3_600_000
const ago = (hours: number) => Date.now() - hours * hourMs
const reported = (at: number) => ({
  ...{ latest: 5, finalized: 5, height: 9, hash: '0x9', balance: '1', at, leadAt: at },
  finalizedAt: 9,
})

async function isNew(state: Partial<LaneState>, { configured = false, startedAt = ago(999) } = {}): Promise<boolean | undefined> {
  const client = {
    withDeadline: (_: number, work: () => unknown) => work(),
    workflow: {
      getHandle: (id: string) => {
        expect(id).toBe(laneWorkflowId(lane))
        return {
          query: () => Promise.resolve({ ...newLane(config), ...state }),
          describe: () => Promise.resolve({ startTime: new Date(startedAt) }),
        }
      },
    },
  } as unknown as TemporalClient
  const { heldNonces } = createKeylessRequests(client, new Map(configured ? [[lane, config]] : []), false)
  const [word] = await heldNonces('w', [lane])
  return word?.isNew
}

afterEach(() => void vi.useRealTimers())

const resynced = { kind: 'resync', by: 'alice', reason: 'x' }

test.each<[string, Partial<LaneState>, number]>([
  ['its last report is older than a day', { observed: reported(ago(25)) }, ago(1)],
  ['it was never reported, and its run is older than a day', {}, ago(25)],
  ['its last order is older than a day, too', { observed: reported(ago(26)), orders: [{ ...resynced, at: ago(25) }] }, ago(1)],
])('the ledger of a lane that the config lacks is no longer new if %s', async (_, state, startedAt) => {
  expect(await isNew(state, { startedAt })).toBe(false)
  expect(await isNew(state, { startedAt, configured: true }), 'a lane in the config').toBe(true)
})

test.each<[string, Partial<LaneState>, number]>([
  ['reported', { observed: reported(ago(23)) }, ago(99)],
  ['started', {}, ago(23)],
  ['reset', { orders: [{ ...resynced, kind: 'reset', at: ago(23) }] }, ago(99)],
])('the ledger of a lane that the config lacks is new if it was %s within a day', async (_, state, startedAt) => {
  expect(await isNew(state, { startedAt })).toBe(true)
})

test('a ledger that has read its account is not new', async () => {
  expect(await isNew({ synced: true, observed: reported(ago(1)) })).toBe(false)
  expect(await isNew({ synced: true, observed: reported(ago(1)) }, { configured: true })).toBe(false)
})

/** A ledger of the config whose last report changes. `isUnreported` reads it. */
function reportsOf(first: Partial<LaneState> | undefined) {
  const known: { state: Partial<LaneState> | undefined } = { state: first }
  const client = {
    withDeadline: (_: number, work: () => unknown) => work(),
    workflow: {
      getHandle: () => ({
        query: () =>
          known.state
            ? Promise.resolve({ ...newLane(config), ...known.state })
            : Promise.reject(new WorkflowNotFoundError('gone', 'lane', undefined)),
      }),
    },
  } as unknown as TemporalClient
  const { heldNonces } = createKeylessRequests(client, new Map([[lane, config]]), false)
  const isUnreported = async () => (await heldNonces('w'))[0]?.isUnreported
  return { known, isUnreported }
}

const synced = (at: number) => ({ synced: true, observed: reported(at) })

test("a lane's ledger is unreported if it is missing or unsynced, or if its last report is old", async () => {
  expect(await reportsOf(undefined).isUnreported()).toBe(true)
  expect(await reportsOf({ observed: reported(Date.now()) }).isUnreported()).toBe(true)
  expect(await reportsOf(synced(ago(1))).isUnreported()).toBe(true)
  expect(await reportsOf(synced(Date.now())).isUnreported()).toBe(false)
})

test("a report counts as new if a later one follows, although this process's clock differs by hours", async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1e12 })
  for (const at of [ago(5), ago(-5)]) {
    const { known, isUnreported } = reportsOf(synced(at))
    expect(await isUnreported()).toBe(true)
    known.state = synced(at + 3_000)
    vi.advanceTimersByTime(3_000)
    expect(await isUnreported()).toBe(false)
    vi.advanceTimersByTime(31_000)
    expect(await isUnreported(), 'no later report for half a minute').toBe(true)
  }
})

test('a report of a restored ledger counts as old, although this process last read an earlier one', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1e12 })
  const { known, isUnreported } = reportsOf(synced(ago(2)))
  expect(await isUnreported()).toBe(true)
  vi.advanceTimersByTime(hourMs)
  known.state = synced(ago(2))
  expect(await isUnreported(), 'a backup of an hour later').toBe(true)
  known.state = synced(ago(3))
  expect(await isUnreported(), 'an earlier backup').toBe(true)
})
