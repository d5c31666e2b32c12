import { expect, test } from 'vitest'
import { boundedMap } from '../../runtime/bounded-map.ts'

test('a bounded map drops the entries that were set first', () => {
  const map = boundedMap<string, number>(2)
  for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index)
  expect([map.has('a'), map.get('b'), map.get('c'), map.size]).toEqual([false, 1, 2, 2])
  map.set('b', 5)
  map.set('d', 6)
  expect([map.has('c'), map.get('b'), map.get('d')]).toEqual([false, 5, 6])
})

test('a bounded map drops entries after their time', async () => {
  const map = boundedMap<string, true>(10, 20)
  map.set('a', true)
  expect(map.has('a')).toBe(true)
  await expect.poll(() => [map.has('a'), map.get('a')]).toEqual([false, undefined])
})
