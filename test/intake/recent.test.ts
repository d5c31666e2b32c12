import { expect, test } from 'vitest'
import { createRecent } from '../../intake/submit/recent.ts'

test('forgets what is old, and the oldest when there is no room', () => {
  let now = 0
  const recent = createRecent(2, 100, () => now)
  recent.add('a')
  now = 60
  recent.add('b')
  expect([recent.has('a'), recent.has('b'), recent.has('c')]).toEqual([true, true, false])
  recent.add('a')
  recent.add('c')
  expect([recent.has('a'), recent.has('b'), recent.has('c')]).toEqual([true, false, true])
  now = 159
  expect(recent.has('a')).toBe(true)
  now = 160
  expect(recent.has('a')).toBe(false)
})
