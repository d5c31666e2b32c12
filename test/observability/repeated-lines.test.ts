import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRepeatedLines, type Line } from '../../observability/repeated-lines.ts'

const written: Line[] = []
let lines: ReturnType<typeof createRepeatedLines>
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T00:00:00Z') })
  written.length = 0
  lines = createRepeatedLines((line) => void written.push(line))
})
afterEach(() => vi.useRealTimers())

const refused = (nonce: number, lane = 'evm-1:0xa') => lines.say({ level: 'warn', message: 'a node refused', fields: { lane, nonce } })

test('the first line of a kind is written at once, and later lines are counted at growing intervals', () => {
  for (let second = 0; second < 600; second++) {
    refused(second)
    vi.advanceTimersByTime(1_000)
  }
  // The first line is written immediately, and the next lines after 1, 2, 4 and 8 more minutes. The last line is not
  // due yet.
  expect(written.map(({ fields }) => [fields['nonce'], fields['repeated']])).toEqual([
    [0, undefined],
    [59, 59],
    [179, 120],
    [419, 240],
  ])
  expect(written[1]!.fields['since']).toBe('2026-11-22T00:00:00.000Z')
  lines.flush()
  expect(written.at(-1)!.fields).toEqual({ lane: 'evm-1:0xa', nonce: 599, repeated: 180, since: '2026-11-22T00:07:00.000Z' })
})

test('lines about different subjects are not repetitions, even if they have the same text', () => {
  refused(1)
  refused(1, 'evm-1:0xb')
  lines.say({ level: 'error', message: 'a node refused', fields: { lane: 'evm-1:0xa', nonce: 1 } })
  for (const transfer of ['x', 'y']) lines.say({ level: 'warn', message: 'transfer parked', fields: { transfer } })
  for (const receiver of ['books', 'pager']) lines.say({ level: 'warn', message: 'does not answer', fields: { receiver } })
  expect(written.splice(5).map(({ fields }) => fields['receiver'])).toEqual(['books', 'pager'])
  for (const lowest of ['7', '8'])
    lines.say({ level: 'error', message: 'a node hides logs', fields: { stream: 's', transfers: 1, lowest } })
  expect(written.slice(5).map(({ fields }) => fields['lowest'])).toEqual(['7', '8'])
})

test('a line is written at once if no line of its kind came during the last interval', () => {
  refused(1)
  vi.advanceTimersByTime(60_000)
  refused(2)
  expect(written.map(({ fields }) => fields)).toEqual([
    { lane: 'evm-1:0xa', nonce: 1 },
    { lane: 'evm-1:0xa', nonce: 2 },
  ])
  lines.flush()
  expect(written).toHaveLength(2)
})

test('only a limited number of kinds is remembered, and lines of further kinds are written at once', () => {
  for (let id = 0; id < 1_200; id++) lines.say({ level: 'warn', message: 'transfer parked', fields: { transfer: String(id) } })
  expect(written).toHaveLength(1_200)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(1_000)
})
