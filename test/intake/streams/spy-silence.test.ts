import { expect, test } from 'vitest'
import { applyToStream, initialStream } from '../../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../../domain/stream/request.ts'
import type { StreamRequest } from '../../../domain/stream/stream.ts'
import { createExpectedOfSpy, createSilenceEnd, missedBySpy } from '../../../intake/streams/signed/spy-silence.ts'
import type { FetchOutcome } from '../../../intake/streams/signed/gaps/fetch-messages.ts'

const heads = { current: undefined }
const order = { by: 'ann', reason: 'a look' }

test('a spy is expected to send messages that are published during a subscription', () => {
  const expected = createExpectedOfSpy(heads, () => 10_000)
  expect(expected.isMissed('1', 11_000)).toBe(false)
  expected.begin('a:1')
  expect([expected.isMissed('1', 9_000), expected.isMissed('2', 11_000)]).toEqual([false, true])
  expected.end('a:1')
  expect(expected.isMissed('2', 11_000)).toBe(false)
})

test('a received number is no longer expected of the spy', () => {
  const expected = createExpectedOfSpy(heads, () => 10_000)
  expected.begin('a:1')
  expected.received('2')
  expect(expected.isMissed('2', 11_000)).toBe(false)
})

test('another spy that connects again does not hide a silent spy', async () => {
  const { open, look, noted, expected, tell } = silentStream()
  open(6_000, 'silent:1')
  await look()
  open(6_000, 'flaps:1')
  tell([{ kind: 'seen', numbers: [['5']], missedBySpy: [['5', '5']] }], 8_000)
  expected.end('flaps:1')
  expect(expected.isMissed('6', 8_500)).toBe(true)
  open(9_000, 'flaps:1')
  await look()
  expect(noted()).toMatchObject({ from: '5' })
  expect(expected.isMissed('6', 8_500)).toBe(true)
  expected.end('silent:1')
  expect([expected.isMissed('6', 8_500), expected.isMissed('6', 9_500)]).toEqual([false, true])
})

test('a chain clock ahead of the process does not make old messages expected', () => {
  const latest = { height: 7, hash: '0x07', parentHash: '0x06', timestamp: 0 }
  const expected = createExpectedOfSpy({ current: { latest, finalized: 5, time: 20 } as never }, () => 10_000)
  expected.begin('a:1')
  expect([expected.isMissed('1', 15_000), expected.isMissed('2', 21_000)]).toEqual([false, true])
})

test('only messages that a server had count as missed by the spy', () => {
  const outcomes = new Map<string, FetchOutcome>([
    ['3', { kind: 'started', id: 'a', status: 'started', publishedAt: 5 }],
    ['4', { kind: 'ignored', publishedAt: 6 }],
    ['5', { kind: 'started', id: 'b', status: 'known' }],
    ['6', { kind: 'delivered' }],
    ['7', { kind: 'absent', againInMs: undefined, code: undefined }],
  ])
  expect(missedBySpy(outcomes, () => true)).toEqual(['3', '4'])
  expect(missedBySpy(outcomes)).toEqual([])
})

/** A stream for which the spy missed the numbers 3 and 4, which the servers had at time 5,000. */
function silentStream(maxOpen = 10) {
  let state = initialStream({ stream: 'test', origin: '1/0xaa', first: '3', maxOpen: 10 })
  let clock = 1_000
  const tell = (requests: readonly StreamRequest[], at = clock) => {
    assertStreamUpdate({ requests })
    const step = applyToStream(state, { requests }, at)
    state = step.state
    return step.response
  }
  tell([{ kind: 'seen', numbers: [['3'], ['4']], missedBySpy: [['3', '4']] }], 5_000)
  tell([{ kind: 'setMaxOpen', maxOpen, order }])
  const expected = createExpectedOfSpy(heads, () => clock)
  let looks = 0
  const client = {
    state: async () => {
      looks += 1
      return state
    },
    apply: async (requests: readonly StreamRequest[]) => tell(requests),
  }
  return {
    ...{ expected, tell, look: createSilenceEnd(client, expected) },
    open: (at: number, spy = 'a:1') => {
      clock = at
      expected.begin(spy)
    },
    noted: () => state.missedBySpy,
    rest: () => ({ next: state.next, open: state.open.map(({ number }) => number) }),
    looks: () => looks,
  }
}

test('a new subscription ends earlier notes of missed messages, and changes nothing else', async () => {
  const { open, look, noted, rest, looks, tell } = silentStream()
  const before = rest()
  open(6_000)
  await look()
  expect(noted()).toBeUndefined()
  expect(rest()).toEqual(before)
  tell([{ kind: 'seen', numbers: [['5']], missedBySpy: [['5', '5']] }], 5_500)
  await look()
  expect(noted()).toMatchObject({ from: '5' })
  expect(looks()).toBe(1)
})

test('notes of missed messages stay during a subscription, and while none is open', async () => {
  const { open, look, noted, expected } = silentStream()
  open(4_000)
  await look()
  expect(noted()).toMatchObject({ from: '3', to: '4' })
  open(6_000)
  expected.end('a:1')
  await look()
  expect(noted()).toMatchObject({ from: '3', to: '4' })
})

test('a full stream ends the notes of missed messages, too', async () => {
  const { open, look, noted } = silentStream(1)
  open(6_000)
  await look()
  expect(noted()).toBeUndefined()
})
