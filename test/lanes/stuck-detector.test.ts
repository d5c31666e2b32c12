import { expect, test } from 'vitest'
import { createStuckDetector } from '../../lanes/transaction/fee-escalator.ts'

const calm = { lowest: false, pricedOut: false }

test('only the lowest nonce is raised, some blocks after it became the lowest or was last tried', () => {
  const detector = createStuckDetector(3, true)
  detector.attempted(10)
  expect(detector.check({ height: 20, ...calm })).toBeUndefined()
  expect(detector.check({ height: 21, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 23, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 24, ...calm, lowest: true })).toBe('stuck')
  detector.attempted(24)
  expect(detector.check({ height: 26, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 27, ...calm, lowest: true })).toBe('stuck')
  detector.restart()
  expect(detector.check({ height: 28, ...calm, lowest: true })).toBeUndefined()
})

test('a process that takes over continues the count of blocks, but first waits for one block', () => {
  const detector = createStuckDetector(3, true, 2)
  detector.attempted(30)
  expect(detector.check({ height: 30, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 31, ...calm, lowest: true })).toBe('stuck')
  detector.attempted(31)
  expect(detector.check({ height: 33, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 34, ...calm, lowest: true })).toBe('stuck')
})

test('nothing is raised on a halted chain', () => {
  const detector = createStuckDetector(1, true)
  detector.attempted(5)
  for (let looks = 0; looks < 10; looks++) expect(detector.check({ height: 5, lowest: true, pricedOut: true })).toBeUndefined()
})

test('all priced-out transactions are repriced after the same blocks, whatever their nonce', () => {
  const followers = [1, 2, 3].map(() => createStuckDetector(3, true))
  for (const one of followers) one.attempted(10)
  const at = (height: number) => followers.map((one) => one.check({ height, ...calm, pricedOut: true }))
  expect(at(11)).toEqual([undefined, undefined, undefined])
  expect(at(14)).toEqual(['reprice', 'reprice', 'reprice'])
  // The base fee has fallen, so the transaction is no longer priced out.
  const [one] = followers
  expect(one?.check({ height: 15, ...calm })).toBeUndefined()
  expect(one?.check({ height: 16, ...calm, pricedOut: true })).toBeUndefined()
})

test('a transaction that the nodes find too cheap is raised at the next block', () => {
  const detector = createStuckDetector(100, true)
  detector.attempted(10)
  detector.tooCheap('lowest')
  expect(detector.check({ height: 10, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 11, ...calm })).toBeUndefined()
  expect(detector.check({ height: 11, ...calm, lowest: true })).toBe('stuck')
  detector.attempted(11)
  detector.tooCheap('any')
  expect(detector.check({ height: 12, ...calm })).toBe('reprice')
})

test('on a chain without replacements, only a transaction that no block can take is repriced', () => {
  const detector = createStuckDetector(3, false)
  detector.attempted(10)
  for (let height = 11; height < 60; height++) expect(detector.check({ height, ...calm, lowest: true })).toBeUndefined()
  detector.tooCheap('lowest')
  expect(detector.check({ height: 60, ...calm, lowest: true })).toBeUndefined()
  expect(detector.check({ height: 61, lowest: true, pricedOut: true })).toBeUndefined()
  expect(detector.check({ height: 64, lowest: true, pricedOut: true })).toBe('reprice')
})
