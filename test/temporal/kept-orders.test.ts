import { afterEach, expect, test, vi } from 'vitest'
import { lanesSchema } from '../../api/answers.ts'
import { newLane } from '../../domain/lane/lane.ts'
import { newNotifier } from '../../domain/notification/notifier.ts'
import { listLanes } from '../../lanes/reports.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'

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
