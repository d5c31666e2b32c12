import { status } from '@grpc/grpc-js'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { afterEach, expect, test, vi } from 'vitest'
import { lanesSchema } from '../../api/answers.ts'
import { newLane } from '../../domain/lane/lane.ts'
import { newNotifier } from '../../domain/notification/notifier.ts'
import { initialStream } from '../../domain/stream/reducer.ts'
import { listStreams } from '../../intake/streams/reports.ts'
import { listLanes } from '../../lanes/reports.ts'
import { errorOf } from '../../operations/causes/facts.ts'
import { readLanes, readStreams, unparsedOf } from '../../operations/causes/read-ledgers.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { createTemporalClient } from '../../temporal/client/connection/connect.ts'
import { readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'
import { unpolled } from '../operations/causes/facts.ts'

afterEach(() => {
  vi.useRealTimers()
})

const orders = [{ kind: 'pause', by: 'alice', reason: 'a test', at: 5 }]

/** A Temporal that runs as many workflows of each type, newest first. The last is `own`, and the others are forged. */
function setting(count: number, answer: (isOwn: boolean) => Promise<object> = async () => ({ entries: {}, orders })) {
  const asked: string[] = []
  const client = {
    streamNames: { all: ['own'], idOf: (text: string) => text, nameOf: (text: string) => text },
    withDeadline: <Answer>(_: number, work: () => Promise<Answer>) => work(),
    options: {},
    workflow: {
      async *list({ query }: { query: string }) {
        const type = /'(\w+)'/.exec(query)?.[1] ?? ''
        for (let index = 1; index < count; index++) yield { workflowId: `${type}:forged-${index}` }
        yield { workflowId: `${type}:own` }
      },
      getHandle: (id: string) => ({
        query: async () => {
          asked.push(id)
          const state = await answer(id.endsWith(':own'))
          return id.startsWith('notifier:') ? { ...newNotifier(5), ...state } : state
        },
      }),
    },
  } as unknown as TemporalClient
  return { client, asked }
}

const names = { lanes: ['own'], receivers: ['own'] }
const subjects = ['lane', 'stream', 'receiver'] as const

test.each(subjects)('of 5,000 workflows, those in the config and 1,000 others are asked for their orders: %s', async (subject) => {
  const { client, asked } = setting(5_000)
  const kept = await readKeptOrders(client, names, 0, [subject])
  expect(asked).toHaveLength(1_001)
  expect(kept[0]).toMatchObject({ id: 'own', orders })
  expect(kept.at(-1)).toEqual({ subject, id: `other ${subject}s`, orders: [], isFull: false, unread: true })
})

test.each(subjects)('workflows that the config lacks and that answer slowly cost a minute at most: %s', async (subject) => {
  vi.useFakeTimers()
  const { client, asked } = setting(
    500,
    (isOwn) => new Promise((done) => setTimeout(() => done({ entries: {}, orders }), isOwn ? 0 : 4_000)),
  )
  const reading = readKeptOrders(client, names, 0, [subject])
  await vi.advanceTimersByTimeAsync(70_000)
  const kept = await Promise.race([reading, Promise.reject(new Error('it takes longer'))])
  expect(asked.length).toBeLessThan(20)
  expect(kept).toHaveLength(500)
  expect(kept[0]).toMatchObject({ id: 'own', orders })
  expect(kept.at(-1)).toMatchObject({ unread: true })
})

test('a forged state of one lane hides no other lane', async () => {
  const { client } = setting(2, async (isOwn) => (isOwn ? newLane({ lane: 'own', window: 4, fillAfterBlocks: 10 }) : { entries: null }))
  expect(await listLanes(client, new Map([['own', 'bsc']]))).toMatchObject([
    { lane: 'own', status: 'syncing' },
    { lane: 'forged-1', status: 'no answer' },
  ])
})

const honestLane = newLane({ lane: 'own', window: 4, fillAfterBlocks: 10 })
const observed = { at: 5, height: 1, hash: '0x', latest: 0, finalized: 0, balance: '7' }

test.each<[string, object]>([
  ['a nonce', { next: 'x' }],
  ['a window', { config: { ...honestLane.config, window: 'x' } }],
  ['a reason', { closing: { mode: 'draining', reason: 5, by: 'x' } }],
  ['an author', { closing: { mode: 'draining', reason: 'x', by: {} } }],
  ['a mode', { closing: { mode: 7, reason: 'x', by: 'x' } }],
  ['a mode that every object has', { closing: { mode: 'constructor', reason: 'x', by: 'x' } }],
  ['a balance', { observed: { ...observed, balance: 7 } }],
  ['a balance that is no number', { observed: { ...observed, balance: 'x' } }],
])('a lane with %s of another type is listed as without an answer, and hides no other lane', async (_, forged) => {
  const { client } = setting(2, async (isOwn) => (isOwn ? { ...honestLane, observed } : { ...honestLane, ...forged }))
  const lanes = await listLanes(client, new Map([['own', 'bsc']]))
  expect(lanes).toMatchObject([
    { lane: 'own', status: 'syncing', balance: '7' },
    { lane: 'forged-1', status: 'no answer' },
  ])
  expect(lanesSchema.safeParse({ lanes }).success).toBe(true)
})

test('of 5,000 lanes, a list of lanes shows those in the config and 1,000 others', async () => {
  const { client } = setting(5_000, () => Promise.reject(new Error('no answer')))
  const rows = await listLanes(client, new Map([['own', 'bsc']]))
  expect(rows).toHaveLength(1_001)
  expect(rows[0]).toEqual({ lane: 'own', chain: 'bsc', status: 'no answer' })
})

/** A client with the real codec and converter. Only the answers of the server are replaced. */
function longAnswers(count: number, most: (id: string) => number, forged: object = {}) {
  const connection = Connection.lazy()
  const client = createTemporalClient(connection, 'default', {
    codec: createEncryptionCodec(undefined),
    streamNames: { all: ['own'], idOf: (text: string) => text, nameOf: (text: string) => text },
  })
  const stream = initialStream({ stream: 'own', origin: '1/0xaa', first: '1', maxOpen: 50 })
  const workflowService = {
    listWorkflowExecutions: async ({ query }: { query: string }) => {
      const type = /'(\w+)'/.exec(query)?.[1] ?? ''
      const names = [...Array.from({ length: count }, (_, index) => `forged-${index}`), 'own']
      const run = { type: { name: type }, status: 1, taskQueue: 'ledger', historyLength: { toNumber: () => 3 }, startTime: msToTs(1_000) }
      const executions = names.map((name) => ({ ...run, execution: { workflowId: `${type}:${name}`, runId: 'r' } }))
      return { executions, nextPageToken: Buffer.alloc(0) }
    },
    queryWorkflow: async ({ execution: { workflowId: id } }: { execution: { workflowId: string } }) => {
      const state = JSON.stringify({
        ...(id.startsWith('lane:') ? honestLane : stream),
        ...(id.includes('forged') && forged),
        ...(id.startsWith('transfer:') ? {} : { orders }),
      })
      const text = `${state.slice(0, -1)},"${id.startsWith('transfer:') ? 'orders' : 'filling'}":[${'{},'.repeat(most(id) / 3)}{}]}`
      return { queryResult: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) }] } }
    },
  }
  Object.defineProperty(connection, 'workflowService', { value: workflowService })
  return client
}

const isAnswered = (row: object) => !('problem' in row || 'unread' in row || ('status' in row && row.status === 'no answer'))
const readers: Record<string, (client: TemporalClient) => Promise<readonly object[]>> = {
  'listed lanes': (client) => listLanes(client, new Map([['own', 'bsc']])),
  'listed streams': (client) => listStreams(client, () => undefined),
  'orders to lanes': (client) => readKeptOrders(client, names, 0, ['lane']),
  'orders to streams': (client) => readKeptOrders(client, names, 0, ['stream']),
  'streams that portage stuck reads': async (client) => {
    const { found, isCut } = await readStreams(client)
    expect(isCut).toBe(true)
    return found.map(({ stream: id, state }) => ({ id, ...('value' in state ? {} : { unread: true }) }))
  },
}

test.each(Object.keys(readers))('long answers of workflows that the config lacks are not all parsed: %s', async (name) => {
  const client = longAnswers(20, (id) => (id.endsWith(':own') ? 2_000_000 : 900_000))
  const rows = await readers[name]!(client)
  const answered = rows.filter(isAnswered).map((row) => Object.values(row).find((value) => /^(own|forged-)/.test(String(value))))
  expect(answered).toContain('own')
  expect(answered.length).toBeGreaterThan(1)
  expect(answered.length).toBeLessThanOrEqual(5)
})

test.each([
  ['repeats a long text for each of its entries', { words: [`{"x":[${'{},'.repeat(6_000)}{}]}`], text: ',-,,,,,A;'.repeat(500) }],
  ['has a million entries', { words: [], text: ';'.repeat(1_000_000) }],
  ['has a number of 20,000 digits', { words: [], text: `,-,,,${'z'.repeat(20_000)},,;` }],
])('a forged lane with a page that %s is not unpacked, and the lane of the config is', async (_, packed) => {
  const page = { from: 0, to: 1, inBlock: true, bytes: 1, ...packed }
  const client = longAnswers(1, () => 3, { pages: [page] })
  expect(await listLanes(client, new Map([['own', 'bsc']]))).toMatchObject([
    { lane: 'own', status: 'syncing' },
    { lane: 'forged-0', status: 'no answer' },
  ])
})

test('of the orders that forged transfers answer, an archive keeps a few MiB in all', async () => {
  const kept = await readKeptOrders(
    longAnswers(20, () => 900_000),
    names,
    0,
    ['transfer'],
  )
  const read = kept.filter(({ unread }) => !unread)
  expect([kept.length, read.length]).toEqual([21, 9])
})

test('an answer of more than 4 MiB is not parsed, even of a workflow of the config', async () => {
  const client = longAnswers(0, () => 4_200_000)
  await expect(readers['listed lanes']!(client)).resolves.toEqual([{ lane: 'own', chain: 'bsc', status: 'no answer' }])
})

test('a list parses 32 MiB of long answers under ids of the config, and hides no lane of usual size', async () => {
  const client = longAnswers(30, (id) => (id.endsWith(':own') ? 3 : 2_000_000))
  const lanes = ['own', ...Array.from({ length: 30 }, (_, index) => `forged-${index}`)]
  const rows = await listLanes(client, new Map(lanes.map((lane) => [lane, 'bsc'])))
  const answered = rows.filter(isAnswered).map(({ lane }) => lane)
  expect([rows.length, answered.length]).toEqual([31, 17])
  expect(answered).toContain('own')
  const addresses = Array.from({ length: 30 }, (_, index) => ({ address: `0x${index.toString(16).padStart(40, '0')}` }))
  const config = { chains: { bsc: { family: 'evm', networkId: 56, lanes: addresses } } } as unknown as Parameters<typeof readLanes>[1]
  const found = await readLanes(client, config, async () => unpolled)
  expect(found.filter(({ ledger }) => 'value' in ledger)).toHaveLength(16)
  expect(found.filter(({ ledger }) => unparsedOf(errorOf(ledger)))).toHaveLength(14)
})

test.each(['listed lanes', 'listed streams'])('if Temporal does not answer, a list fails and shows no row: %s', async (name) => {
  const { client } = setting(2, () =>
    Promise.reject(Object.assign(new Error('away'), { code: status.UNAVAILABLE, details: 'away', metadata: {} })),
  )
  await expect(readers[name]!(client)).rejects.toMatchObject({ code: 'TEMPORAL_UNAVAILABLE' })
})
