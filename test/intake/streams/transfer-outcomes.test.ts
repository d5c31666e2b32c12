import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { describe, expect, test, vi } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { bringBack } from '../../../domain/stream/outside-window.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createParkedCodes, createWaitingTransfers } from '../../../intake/streams/waiting-transfers.ts'
import { closedRequests, createOutcomeReporter } from '../../../intake/streams/transfer-outcomes.ts'
import type { endedSince, parkedPage } from '../../../temporal/client/streams/stream-transfers.ts'
import { fakeTime } from '../../helpers/fake-time.ts'
import { unused } from '../../helpers/unused.ts'
import { listingClient } from './listing-client.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs

fakeTime(Date.parse('2026-11-21T12:00:00Z'))

/** A reporter of ended transfers. The visibility store shows a transfer `lagMs` after its end. */
function reporter(lagMs: number, ...numbers: string[]) {
  const closedAt = new Map<string, number>()
  const recorded: string[] = []
  let [listed, isAway] = [0, false]
  const list: typeof endedSince = async (_, __, since) => {
    if (isAway) throw new Error('away')
    const found = [...closedAt].filter(([, at]) => at >= since && at + lagMs <= Date.now())
    listed += found.length
    return found.map(([number]) => ({ number, id: number, runId: number, state: 'delivered', running: false }))
  }
  const config = { stream: 's', origin: '1/0xaa', first: '0', maxOpen: 360 }
  const state: StreamState = { ...initialStream(config), next: '9', open: numbers.map((number) => ({ number })) }
  const streamClient = {
    apply: async (requests: readonly StreamRequest[]) => {
      for (const request of requests) if (request.kind === 'seen') recorded.push(...request.numbers.map(([number]) => number))
      return undefined
    },
  }
  const source = { bridge: 'native-bridge' as const, sourceChain: 'a', config }
  const client = new Client({ connection: Connection.lazy() })
  const outcomes = createOutcomeReporter({ source, streamClient, client, logger: silentLogger() }, list, undefined, async () => ({
    listed: [],
  }))
  const ends = (number: string, at: number) => void closedAt.set(number, at)
  return { recorded, look: () => outcomes.report(state), ends, listed: () => listed, fail: (is: boolean) => void (isAway = is) }
}

test('a transfer that the visibility store shows a minute late is recorded by a later report', async () => {
  const { recorded, look, ends } = reporter(minuteMs - 4 * secondMs, '1')
  ends('1', Date.now())
  const lookedFor = 70 * secondMs
  for (let passed = 0; passed < lookedFor; passed += 4 * secondMs) {
    await look()
    vi.advanceTimersByTime(4 * secondMs)
  }
  expect(recorded).toContain('1')
})

test('a transfer that ends while the clock is set back is recorded by the next report', async () => {
  const { recorded, look, ends } = reporter(0, '1')
  vi.setSystemTime(Date.now() + 86_400_000)
  await look()
  vi.advanceTimersByTime(4 * secondMs)
  vi.setSystemTime(Date.now() - 86_400_000)
  ends('1', Date.now() - 2 * secondMs)
  await look()
  expect(recorded).toEqual(['1'])
})

test('a closed run with an unreadable result does not prevent the record of other transfers', async () => {
  const results: Readonly<Record<string, () => unknown>> = {
    honest: () => ({ state: 'rejected', reason: 'no quorum', code: 'VAA_NO_QUORUM' }),
    encrypted: () => {
      throw new RelayerError('ENCRYPTION_KEY_UNKNOWN')
    },
    'without a code': () => ({ state: 'rejected', code: 5 }),
    empty: () => null,
  }
  const getHandle = (id: string) => ({ result: async () => results[id]?.() })
  const client = { withDeadline: (_: number, work: () => unknown) => work(), workflow: { getHandle } } as unknown as Client
  const ended = Object.keys(results).map((id, number) => ({ id, number: String(number) }))
  expect(await closedRequests(client, ended)).toEqual([
    { kind: 'closed', number: '0', outcome: 'rejected', reason: 'no quorum' },
    { kind: 'closed', number: '2', outcome: 'rejected', reason: 'rejected' },
  ])
})

test.each(['x y', 5, null, undefined])('the code %j of a parked run is recorded as INTERNAL', async (code) => {
  const query = async () => ({ state: 'parked', code })
  const client = {
    withDeadline: (_: number, work: () => unknown) => work(),
    workflow: { getHandle: () => ({ query }) },
  } as unknown as Client
  const parked = { number: '1', id: 'a', runId: 'a', state: 'parked' as const, running: true }
  expect(await createParkedCodes({ client, logger: silentLogger() }).of([parked])).toEqual(new Map([['1', 'INTERNAL']]))
})

test('transfers of a burst are listed a few times, and all are recorded', async () => {
  const numbers = Array.from({ length: 150 }, (_, index) => String(index + 1))
  const { recorded, look, ends, listed } = reporter(2 * secondMs, ...numbers)
  for (const number of numbers) {
    ends(number, Date.now())
    vi.advanceTimersByTime(secondMs)
    if (Number(number) % 3 === 0) await look()
  }
  vi.advanceTimersByTime(3 * secondMs)
  await look()
  expect(new Set(recorded)).toEqual(new Set(numbers))
  expect(listed() / numbers.length).toBeLessThan(6)
})

test('the next report makes up for a failed one', async () => {
  const { recorded, look, ends, fail } = reporter(0, '1')
  await look()
  ends('1', Date.now())
  fail(true)
  for (let count = 0; count < 5; count++) {
    vi.advanceTimersByTime(5 * secondMs)
    await expect(look()).rejects.toThrow('away')
  }
  fail(false)
  await look()
  expect(recorded).toEqual(['1'])
})

test('the first report covers the hour before, and leaves older ends to the audit', async () => {
  const now = Date.now()
  const { recorded, look, ends } = reporter(0, '1', '2')
  ends('1', now - 59 * minuteMs)
  ends('2', now - 61 * minuteMs)
  await look()
  expect(recorded).toEqual(['1'])
})

describe('a look at any number of numbers outside the window', () => {
  /**
   * The numbers 1 to `many` were parked. The visibility store still lists the numbers in `parked`, the highest first.
   */
  function outsideStage(many: bigint, parked: readonly bigint[], code = 'DELIVERY_IMPOSSIBLE') {
    const config = { stream: 's', origin: '1/0xaa', first: '0', maxOpen: 10 }
    let state: StreamState = { ...initialStream(config), next: String(many + 1n), outside: [{ code, packed: `1x${many - 1n}` }] }
    const [listed, recorded]: [number[], StreamRequest[]] = [[], []]
    const newest = parked.toSorted((a, b) => (a < b ? 1 : -1))
    const page: typeof parkedPage = async (_, __, most, before = Infinity) => {
      const found = newest.filter((number) => Number(number) < before).slice(0, most)
      listed.push(found.length)
      const rows = found.map((number) => ({
        number: String(number),
        id: `t${number}`,
        runId: `r${number}`,
        state: 'parked' as const,
        running: true,
      }))
      const oldest = found.at(-1)
      return found.length < most || oldest === undefined ? { listed: rows } : { listed: rows, before: Number(oldest) }
    }
    const streamClient = { apply: async (requests: readonly StreamRequest[]) => void recorded.push(...requests) }
    const source = { bridge: 'native-bridge' as const, sourceChain: 'a', config }
    const client = new Client({ connection: Connection.lazy() })
    const outcomes = createOutcomeReporter({ source, streamClient, client, logger: silentLogger() }, async () => [], undefined, page)
    const look = async () => {
      listed.length = 0
      recorded.length = 0
      await outcomes.report(state)
      const unparked = recorded.flatMap((request) => (request.kind === 'unparked' ? [request.number] : []))
      for (const number of unparked) state = bringBack(state, number, number)
      return { listed: [...listed], unparked, others: recorded.length - unparked.length }
    }
    return { look }
  }
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(from + index))

  test('a report of a huge count of numbers outside the window lists two pages at most', async () => {
    const many = 10n ** 15n
    const { look } = outsideStage(many, numbers(1, 2_500), 'GUARDIAN_SET_EXPIRED')
    const first = await look()
    expect(first).toEqual({ listed: [1_000], unparked: [], others: 0 })
    expect(await look()).toEqual({ listed: [1_000, 1_000], unparked: [], others: 0 })
    // After the last page, each report releases 50 numbers that no page has listed.
    const third = await look()
    expect(third).toEqual({ listed: [1_000, 500], unparked: numbers(2_501, 50).map(String), others: 0 })
    expect((await look()).unparked).toEqual(numbers(2_551, 50).map(String))
  })

  test('parked numbers on any page stay parked, and all others are released', async () => {
    const stays = numbers(1, 3_000).filter((number) => number % 100n !== 7n)
    const { look } = outsideStage(3_000n, stays)
    const gone: string[] = []
    for (let count = 0; count < 8; count++) {
      const { listed, unparked, others } = await look()
      expect([listed.length <= 2, Math.max(...listed) <= 1_000, others]).toEqual([true, true, 0])
      gone.push(...unparked)
    }
    expect(gone.toSorted()).toEqual(
      numbers(1, 3_000)
        .filter((number) => number % 100n === 7n)
        .map(String)
        .toSorted(),
    )
  })
})

describe('transfers that are queried a limited count at a time', () => {
  const config = { stream: 's', origin: '1/0xaa', first: '0', maxOpen: 10 }
  const many = Array.from({ length: 120 }, (_, index) => String(index + 1))
  const idOf = (number: string) => `native-bridge:a:${'0'.repeat(64)}:${number}:${'0'.repeat(16)}`

  /** Returns the ids of the transfers that `step` queries in three calls, a minute apart. No transfer answers. */
  async function queriedBy(make: (client: Client) => () => Promise<unknown>, setBack = false): Promise<ReadonlySet<string>> {
    const { client, queried } = listingClient(many.map((number) => ({ id: idOf(number), state: 'waiting', input: () => undefined })))
    const step = make(client)
    for (let count = 0; count < 3; count++) {
      await step()
      if (setBack) vi.setSystemTime(Date.now() - 60 * minuteMs)
      vi.advanceTimersByTime(minuteMs)
    }
    return new Set(queried)
  }

  test.each([[false], [true]])('every parked transfer is queried, although others do not answer (clock set back: %s)', async (setBack) => {
    const listed = many.map((number) => ({ number, id: idOf(number), runId: number, state: 'parked' as const, running: true }))
    const ids = await queriedBy((client) => {
      const codes = createParkedCodes({ client, logger: silentLogger() })
      return () => codes.of(listed)
    }, setBack)
    expect(ids.size).toBe(120)
  })

  test.each([[false], [true]])('every transfer that waits long is queried (clock set back: %s)', async (setBack) => {
    const state = { ...initialStream(config), next: '200', open: many.map((number) => ({ number })) }
    const ids = await queriedBy((client) => {
      const find = createWaitingTransfers({ source: { bridge: 'native-bridge', sourceChain: 'a' }, client, logger: silentLogger() })
      return () => find(state)
    }, setBack)
    expect(ids.size).toBe(120)
  })

  test('each check lists one page of the waiting transfers, and successive checks reach every page', async () => {
    const { client, queried } = listingClient([])
    const begun = Date.parse('2026-11-20')
    let listed = 0
    // The highest number is the newest. The transfers of the window are the 10 newest and the 10 oldest.
    client.workflow.list = ({ query = '' } = {}) => {
      const before = Date.parse(/StartTime < '([^']+)'/.exec(query)?.[1] ?? '')
      const runs = (async function* () {
        for (let number = Math.min(2_500, before - begun - 1); number > 0; number--) {
          listed++
          yield {
            ...{ workflowId: idOf(String(number)), runId: String(number), startTime: new Date(begun + number) },
            ...{ status: { code: 1, name: 'RUNNING' }, typedSearchAttributes: new TypedSearchAttributes([]) },
          } as unknown as WorkflowExecutionInfo
        }
      })()
      return Object.assign(runs, { intoHistories: unused('intoHistories') })
    }
    const window = [...many.slice(0, 10), ...many.slice(0, 10).map((number) => String(2_490 + Number(number)))]
    const find = createWaitingTransfers({ source: { bridge: 'native-bridge', sourceChain: 'a' }, client, logger: silentLogger() })
    const looks: number[] = []
    for (let count = 0; count < 4; count++) {
      await find({ ...initialStream({ ...config, maxOpen: 20 }), next: '2501', open: window.map((number) => ({ number })) })
      looks.push(listed)
      listed = 0
      vi.advanceTimersByTime(minuteMs)
    }
    expect(looks).toEqual([1_000, 1_000, 1_000, 502])
    expect(new Set(queried)).toEqual(new Set(window.map(idOf)))
  })

  test.each([
    [6, 10 * minuteMs],
    [10, minuteMs],
  ])('with %i of 10 places taken, transfers that have waited for %i ms may leave the window', async (taken, afterMs) => {
    const { client } = listingClient([])
    const list = vi.spyOn(client.workflow, 'list')
    const find = createWaitingTransfers({ source: { bridge: 'native-bridge', sourceChain: 'a' }, client, logger: silentLogger() })
    await find({ ...initialStream(config), next: '200', open: many.slice(0, taken).map((number) => ({ number })) })
    expect(list.mock.calls.map(([options]) => options?.query).join()).toContain(new Date(Date.now() - afterMs).toISOString())
  })
})
