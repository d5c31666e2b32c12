import { expect, test } from 'vitest'
import { StuckDetector } from '../../lanes/transaction/stuck-detector.ts'

const calm = { lowest: false, pricedOut: false }

test('only the lowest is raised, so many blocks after it became that or was last tried', () => {
  const patience = new StuckDetector(3, true)
  patience.attempted(10)
  expect(patience.look({ height: 20, ...calm })).toBeUndefined()
  expect(patience.look({ height: 21, ...calm, lowest: true })).toBeUndefined()
  expect(patience.look({ height: 23, ...calm, lowest: true })).toBeUndefined()
  expect(patience.look({ height: 24, ...calm, lowest: true })).toBe('raise')
  patience.attempted(24)
  expect(patience.look({ height: 26, ...calm, lowest: true })).toBeUndefined()
  expect(patience.look({ height: 27, ...calm, lowest: true })).toBe('raise')
  // Out of its block, the wait begins anew.
  patience.restart()
  expect(patience.look({ height: 28, ...calm, lowest: true })).toBeUndefined()
})

test('a chain that stands still raises nothing', () => {
  const patience = new StuckDetector(1, true)
  patience.attempted(5)
  for (let looks = 0; looks < 10; looks++) expect(patience.look({ height: 5, lowest: true, pricedOut: true })).toBeUndefined()
})

test('all who are priced out are repriced after the same blocks, wherever they stand', () => {
  const followers = [1, 2, 3].map(() => new StuckDetector(3, true))
  for (const one of followers) one.attempted(10)
  const at = (height: number) => followers.map((one) => one.look({ height, ...calm, pricedOut: true }))
  expect(at(11)).toEqual([undefined, undefined, undefined])
  expect(at(14)).toEqual(['reprice', 'reprice', 'reprice'])
  // A base fee that fell in between was no reason.
  const [one] = followers
  expect(one?.look({ height: 15, ...calm })).toBeUndefined()
  expect(one?.look({ height: 16, ...calm, pricedOut: true })).toBeUndefined()
})

test('what the nodes find too cheap is looked at with the next block', () => {
  const patience = new StuckDetector(100, true)
  patience.attempted(10)
  patience.tooCheap('lowest')
  expect(patience.look({ height: 10, ...calm, lowest: true })).toBeUndefined()
  expect(patience.look({ height: 11, ...calm })).toBeUndefined()
  expect(patience.look({ height: 11, ...calm, lowest: true })).toBe('raise')
  patience.attempted(11)
  patience.tooCheap('any')
  expect(patience.look({ height: 12, ...calm })).toBe('reprice')
})

test('where a higher fee replaces nothing, only what no block can take is repriced', () => {
  const patience = new StuckDetector(3, false)
  patience.attempted(10)
  for (let height = 11; height < 60; height++) expect(patience.look({ height, ...calm, lowest: true })).toBeUndefined()
  patience.tooCheap('lowest')
  expect(patience.look({ height: 60, ...calm, lowest: true })).toBeUndefined()
  expect(patience.look({ height: 61, lowest: true, pricedOut: true })).toBeUndefined()
  expect(patience.look({ height: 64, lowest: true, pricedOut: true })).toBe('reprice')
})
