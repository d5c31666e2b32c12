import { expect, onTestFinished, test, vi } from 'vitest'
import { ageOf, earlier, pastByOtherClock, present } from '../../runtime/moment.ts'

const dayMs = 86_400_000

/** Sets both clocks of this process. The returned function lets them advance by different times. */
function clocks() {
  let [wall, passed] = [Date.parse('2026-11-21T12:00:00Z'), 5_000]
  vi.spyOn(Date, 'now').mockImplementation(() => wall)
  vi.spyOn(performance, 'now').mockImplementation(() => passed)
  onTestFinished(() => void vi.restoreAllMocks())
  return (wallMs: number, passedMs: number) => {
    wall += wallMs
    passed += passedMs
  }
}

test.each([
  ['both clocks run', 7_000, 7_000, 7_000],
  ['the wall clock is set back', 7_000 - dayMs, 7_000, 7_000],
  ['the machine is suspended', dayMs, 7_000, dayMs],
])('while %s, the age of a moment has the time that has passed', (_, wallMs, passedMs, age) => {
  const advance = clocks()
  const moment = present()
  advance(wallMs, passedMs)
  expect([ageOf(moment), ageOf(earlier(moment, 500))]).toEqual([age, age + 500])
})

test.each([-dayMs, -3_000, 3_000, dayMs])('a time of another clock that is %i ms off is at least as old as the difference', (off) => {
  const advance = clocks()
  const moment = pastByOtherClock(Date.now() + off)
  expect(ageOf(moment)).toBe(Math.abs(off))
  advance(-dayMs, 1_000)
  expect(ageOf(moment)).toBe(Math.abs(off) + 1_000)
})
