import { expect, test } from 'vitest'
import { countParked } from '../../api/routes/metrics.ts'

test('parked transfers are counted by code; those without a known code are `unknown`', () => {
  expect(Object.fromEntries(countParked(['GAS_LIMIT', 'DEADLINE_PASSED', 'GAS_LIMIT'], 5))).toEqual({
    ...{ GAS_LIMIT: 2, DEADLINE_PASSED: 1, unknown: 2 },
  })
  expect([...countParked([], 0)]).toEqual([])
})

test('forged codes in Temporal do not become series of the metric', () => {
  const forged = Array.from({ length: 500 }, (_, index) => `forged-${index}`)
  expect(Object.fromEntries(countParked([...forged, '__proto__', 'constructor', 'INTERNAL'], 503))).toEqual({ INTERNAL: 1, unknown: 502 })
})
