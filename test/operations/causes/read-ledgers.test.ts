import { afterEach, expect, test, vi } from 'vitest'
import type { Config } from '../../../config/schema/schema.ts'
import { newNotifier } from '../../../domain/notification/notifier.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { explainReceivers } from '../../../operations/causes/explain-receivers.ts'
import { readFailing, readLanes, readReceivers, readStreams } from '../../../operations/causes/read-ledgers.ts'
import { readTemporal } from '../../../operations/causes/read-temporal.ts'
import { listReceivers } from '../../../operations/notifications/receiver-report.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { listStreamNames } from '../../../temporal/client/streams/streams.ts'
import { unpolled } from './facts.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A Temporal that runs a stream for each number, all of whose workflow tasks fail. The config has the last one. */
function setting(count: number, { answer = async (_: string) => ({}) }: { answer?: (id: string) => Promise<object> } = {}) {
  const asked: string[] = []
  let [now, most] = [0, 0]
  const ask = async <Answer>(id: string, of: () => Promise<Answer>) => {
    most = Math.max(most, ++now)
    asked.push(id)
    await new Promise((done) => setTimeout(done, 1))
    return of().finally(() => (now -= 1))
  }
  const run = {
    status: { name: 'RUNNING' },
    startTime: new Date(0),
    raw: { pendingWorkflowTask: { attempt: 9 } },
    typedSearchAttributes: new Map(),
  }
  const client = {
    streamNames: { all: [`s-${count - 1}`], idOf: (text: string) => text, nameOf: (text: string) => text },
    withDeadline: <Answer>(_: number, work: () => Promise<Answer>) => work(),
    workflow: {
      async *list() {
        for (let index = 0; index < count; index++) yield { workflowId: `stream:s-${index}` }
      },
      getHandle: (id: string) => ({ query: () => ask(id, () => answer(id)), describe: () => ask(id, async () => run) }),
    },
  } as unknown as TemporalClient
  return { client, asked, most: () => most }
}

const config = (lanes: number) => {
  const addresses = Array.from({ length: lanes }, (_, index) => ({ address: `0x${index.toString(16).padStart(40, '0')}` }))
  const chains = { bsc: { family: 'evm', networkId: 56, lanes: addresses } }
  return { chains, notifications: [{ name: 'books' }] } as unknown as Pick<Config, 'chains' | 'notifications'>
}

test('portage stuck asks every lane of the config, and at most 50 at a time', async () => {
  const { client, most } = setting(0)
  const facts = await readLanes(client, config(250), async () => unpolled)
  expect(new Set(facts.map(({ lane }) => lane)).size).toBe(250)
  expect(facts.every(({ ledger }) => 'value' in ledger)).toBe(true)
  expect(most()).toBe(50)
})

test('portage stuck asks every stream, and every workflow whose tasks could fail', async () => {
  const { client, most } = setting(250)
  expect(await readStreams(client)).toMatchObject({ found: { length: 250 }, isCut: false })
  // A lane, the settings and a notifier of the config are asked, too.
  expect(await readFailing(client, config(1))).toMatchObject({ found: { length: 253 }, isCut: false })
  expect(most()).toBe(50)
})

test("of 50,000 streams, portage stuck asks the config's streams first, then 1,000 others, and says so", async () => {
  const { client, asked } = setting(50_000)
  const streams = await readStreams(client)
  expect(streams).toMatchObject({ found: { length: 1_001 }, isCut: true })
  expect(asked[0]).toBe('stream:s-49999')
  expect(await readFailing(client, config(1))).toMatchObject({ found: { length: 1_004 }, isCut: true })
  expect(await listStreamNames(client)).toHaveLength(1_001)
  const { unread } = await readTemporal(
    client,
    { ...config(0), notifications: [], bridges: {}, worker: {} } as never,
    Promise.resolve({ asOf: 0, value: noSettings }),
  )
  expect(unread.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['some of the streams', 'some of the workflows of the queue ledger']),
  )
})

test('silent streams that the config lacks do not hide the streams of the config', async () => {
  vi.useFakeTimers()
  const { client } = setting(900, { answer: async (id) => (id === 'stream:s-899' ? {} : new Promise(() => {})) })
  const reading = readStreams(client)
  await vi.advanceTimersByTimeAsync(9_000)
  const { found, isCut } = await Promise.race([reading, Promise.reject(new Error('it takes longer than the answer may'))])
  expect(isCut).toBe(true)
  expect(found.find(({ stream }) => stream === 's-899')?.state).toMatchObject({ value: {} })
})

test.each<[string, object | null]>([
  ['nothing', {}],
  ['null', null],
  ['no cursor', { ...newNotifier(5), cursor: undefined }],
  ['a time that no date can represent', { ...newNotifier(5), recordedAt: 9e15 }],
  ['an unsent notification without a time', { ...newNotifier(5), unsent: [{ tries: 1, nextAt: 1, why: 'x', notification: {} }] }],
  ['a reason that is no text', { ...newNotifier(5), failure: { since: 1, nextAt: 2, tries: 1, why: { toString: 1 } } }],
  ['an author that is no text', { ...newNotifier(5), disabled: { at: 1, why: 'ordered', by: { toString: 1 }, reason: 'x' } }],
  ['counts that are no numbers', { ...newNotifier(5), counts: { sent: 'x', failed: 0, givenUp: 0 } }],
  ['no tests', { ...newNotifier(5), tests: undefined }],
])('a workflow under the id of a notifier that answers %s is unreachable, and fails no report', async (_, answer) => {
  const { client } = setting(0, { answer: async () => answer as object })
  const receivers = [{ name: 'books', url: 'https://example.org', events: ['transfer.delivered'] }] as never
  const [found, ...more] = await readReceivers(client, receivers, async () => unpolled)
  expect(found?.notifier).toMatchObject({ error: { code: 'NOTIFIER_UNREACHABLE' } })
  expect(more).toEqual([])
  expect(explainReceivers({ at: Date.now(), receivers: [found!], ledger: { asked: 1, answered: 1 } as never })).toMatchObject([
    { row: 'RECEIVER_UNSERVED' },
  ])
  expect(await listReceivers(client, receivers)).toMatchObject([{ name: 'books', state: 'unknown' }])
})

test('the answer of a notifier is reported', async () => {
  const counts = { sent: 3, failed: 0, givenUp: 0, name: 7 }
  const { client } = setting(0, { answer: async () => ({ ...newNotifier(5), counts }) })
  const receivers = [{ name: 'books', url: 'https://example.org', events: [] }] as never
  expect(await listReceivers(client, receivers)).toMatchObject([
    { name: 'books', state: 'active', sent: 3, notifiedUpTo: '1970-01-01T00:00:00.005Z' },
  ])
})
