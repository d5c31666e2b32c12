import { describe, expect, test } from 'vitest'
import { until } from '../../../lab/devnet/until.ts'
import { applyToStream, initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../../domain/stream/request.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import { createRecorder, type RecorderOptions } from '../../../intake/streams/signed/recorder.ts'

function network(maxOpen = 200, options: Partial<RecorderOptions> = {}) {
  let state: StreamState = initialStream({ stream: 'test', origin: '1/0xaa', first: '0', maxOpen })
  const updates: (readonly StreamRequest[])[] = []
  let gone = false
  const streamClient: RecorderOptions['streamClient'] = {
    get view() {
      return updates.length === 0 ? undefined : viewStream(state)
    },
    async apply(requests) {
      updates.push(requests)
      assertStreamUpdate({ requests })
      await Promise.resolve()
      if (gone) {
        gone = false
        return undefined
      }
      const step = applyToStream(state, { requests }, 1)
      state = step.state
      return step.response
    },
  }
  const recorder = createRecorder({ streamClient, everyMs: 20, ...options })
  const apply = (request: StreamRequest) => (state = applyToStream(state, { requests: [request] }, 1).state)
  return {
    recorder,
    updates,
    apply,
    goBack: () => (gone = true),
    open: () => state.open.map(({ number }) => Number(number)),
    state: () => state,
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('the recorder of numbers from the spy', () => {
  test('numbers from the spy are recorded in one update', async () => {
    const { recorder, updates, open } = network()
    for (const number of range(0, 79).reverse()) recorder.add(String(number), 'started')
    recorder.add('40', 'started')
    await until(() => recorder.size === 0, { timeoutMs: 40_000, what: 'all numbers to be recorded' })
    expect(updates).toHaveLength(1)
    expect(open()).toEqual(range(0, 79))
    recorder.close()
  })

  test('many numbers are recorded sooner, with one update at a time', async () => {
    const { recorder, updates, open } = network(360, { everyMs: 60_000, many: 100 })
    for (const number of range(0, 299)) recorder.add(String(number), 'started')
    await recorder.flush()
    expect(open()).toEqual(range(0, 299))
    expect(updates.length).toBeLessThanOrEqual(3)
    recorder.close()
  })

  test('numbers wait for room, and the lowest are recorded first', async () => {
    const { recorder, updates, open, apply } = network(10)
    for (const number of range(0, 29)) recorder.add(String(number), 'started')
    recorder.add('29', 'delivered')
    recorder.add('28', 'ignored')
    await recorder.flush()
    await recorder.flush()
    expect(open()).toEqual(range(0, 9))
    const before = updates.length
    for (let count = 0; count < 3; count++) await recorder.flush()
    expect([recorder.size, updates.length]).toEqual([18, before])
    apply({ kind: 'seen', numbers: range(0, 5).map((number) => [String(number)]), delivered: [['0', '5']] })
    await until(() => open().join() === range(6, 15).join(), { timeoutMs: 40_000, what: 'the next numbers to be recorded' })
    recorder.close()
  })

  test('numbers are recorded again in a stream that went back', async () => {
    const { recorder, updates, open, goBack } = network()
    goBack()
    recorder.add('0', 'started')
    await until(() => open().length === 1, { timeoutMs: 40_000, what: 'the second time' })
    expect(updates).toHaveLength(2)
    recorder.close()
  })

  test('a started transfer does not replace a delivered or ignored number', async () => {
    const { recorder, state } = network()
    recorder.add('0', 'delivered')
    recorder.add('0', 'started')
    recorder.add('1', 'started')
    recorder.add('1', 'ignored')
    await recorder.flush()
    expect(state()).toMatchObject({ next: '2', open: [], gaps: [], counts: { completed: 1, ignored: 1 } })
    recorder.close()
  })

  test('ignored numbers wait longer, or go with the next started one', async () => {
    const { recorder, updates, state } = network(200, { everyMs: 20, quietMs: 60_000 })
    recorder.add('0', 'ignored')
    recorder.add('1', 'ignored')
    expect(recorder.lowest).toBe('0')
    recorder.add('2', 'started')
    // Without the started transfer, the recorder would wait for a minute.
    await until(() => recorder.size === 0, { timeoutMs: 40_000, what: 'all numbers to be recorded' })
    expect([updates.length, state().next, state().counts.ignored]).toEqual([1, '3', 2])
    recorder.close()
  })
})
