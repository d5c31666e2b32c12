import { WorkflowNotFoundError } from '@temporalio/client'
import { expect, test } from 'vitest'
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

async function heldNonces(state: Partial<LaneState> | undefined, { configured = false, startedAt = ago(999) } = {}) {
  const client = {
    withDeadline: (_: number, work: () => unknown) => work(),
    workflow: {
      getHandle: (id: string) => {
        expect(id).toBe(laneWorkflowId(lane))
        return {
          query: () =>
            state ? Promise.resolve({ ...newLane(config), ...state }) : Promise.reject(new WorkflowNotFoundError('gone', id, undefined)),
          describe: () => Promise.resolve({ startTime: new Date(startedAt) }),
        }
      },
    },
  } as unknown as TemporalClient
  const requests = createKeylessRequests(client, new Map(configured ? [[lane, config]] : []), false)
  const [word] = await requests.heldNonces('w', [lane])
  return word
}

const isNew = async (...given: Parameters<typeof heldNonces>) => (await heldNonces(...given))?.isNew

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

test('a ledger that is missing, unsynced or of a replaced chain has no time of a report', async () => {
  const at = ago(1)
  const reportedAt = async (state: Partial<LaneState> | undefined, configured = true) =>
    (await heldNonces(state, { configured }))?.reportedAt
  expect(await reportedAt({ synced: true, observed: reported(at) })).toBe(at)
  expect(await reportedAt({ synced: false, observed: reported(at) })).toBe(0)
  expect(await reportedAt(undefined)).toBe(0)
  expect(await reportedAt({ synced: true, observed: reported(at), replaced: { height: 9, hash: '0x9' } })).toBeUndefined()
  expect(await reportedAt({ synced: true, observed: reported(at) }, false), 'a lane that the config lacks').toBeUndefined()
})
