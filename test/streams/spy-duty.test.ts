import { expect, test } from 'vitest'
import { createSpyDuty, unheardOf } from '../../streams/signed/spy-duty.ts'
import type { FetchOutcome } from '../../streams/signed/fetch-missing.ts'

const heads = { current: undefined }

test('a spy owes what is published while a subscription stands, and nothing of before and after', () => {
  const duty = createSpyDuty(heads, () => 10_000)
  expect(duty.isUnheard('1', 11_000)).toBe(false)
  duty.begin()
  expect([duty.isUnheard('1', 9_000), duty.isUnheard('2', 11_000)]).toEqual([false, true])
  duty.end()
  expect(duty.isUnheard('2', 11_000)).toBe(false)
})

test('what it told is not owed, whatever came of it', () => {
  const duty = createSpyDuty(heads, () => 10_000)
  duty.begin()
  duty.tell('2')
  expect(duty.isUnheard('2', 11_000)).toBe(false)
})

test('the clock of a chain that is ahead of ours makes no message of before one of after', () => {
  const latest = { height: 7, hash: '0x07', parentHash: '0x06', timestamp: 20 }
  const duty = createSpyDuty({ current: { latest, finalized: 5 } as never }, () => 10_000)
  duty.begin()
  expect([duty.isUnheard('1', 15_000), duty.isUnheard('2', 21_000)]).toEqual([false, true])
})

test('only messages that a server had count: not those that are absent, delivered without one, or run already', () => {
  const outcomes = new Map<string, FetchOutcome>([
    ['3', { kind: 'started', id: 'a', status: 'started', publishedAt: 5 }],
    ['4', { kind: 'ignored', publishedAt: 6 }],
    ['5', { kind: 'started', id: 'b', status: 'known' }],
    ['6', { kind: 'delivered' }],
    ['7', { kind: 'absent', againInMs: undefined, code: undefined }],
  ])
  expect(unheardOf(outcomes, () => true)).toEqual(['3', '4'])
  expect(unheardOf(outcomes)).toEqual([])
})
