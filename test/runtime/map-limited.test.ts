import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { mapLimited } from '../../runtime/map-limited.ts'

const numbers = Array.from({ length: 20 }, (_, index) => index)

test('a limited map keeps the sequence of the items, and runs no more of them in parallel than its limit', async () => {
  let running = 0
  let most = 0
  const doubled = await mapLimited(numbers, 3, async (number) => {
    most = Math.max(most, ++running)
    await setImmediate()
    running -= 1
    return number * 2
  })
  expect([doubled, most]).toEqual([numbers.map((number) => number * 2), 3])
})

test('a limited map begins no other item after a failure', async () => {
  const begun: number[] = []
  const run = async (number: number) => {
    begun.push(number)
    if (number === 4) throw new Error('the fifth fails')
  }
  await expect(mapLimited(numbers, 3, run)).rejects.toThrow('the fifth fails')
  await setImmediate()
  expect(begun).not.toContain(8)
})

test('a limited map rejects with its first failure, once the items under way have ended', async () => {
  let fail = (_: Error) => {}
  let isOver = false
  const run = async (number: number) => {
    if (number === 0) return new Promise((_, reject) => (fail = reject))
    throw new Error(`item ${number} fails`)
  }
  const mapped = mapLimited(numbers, 2, run)
    .catch(String)
    .finally(() => (isOver = true))
  await setImmediate()
  expect(isOver).toBe(false)
  fail(new Error('item 0 fails'))
  expect(await mapped).toBe('Error: item 1 fails')
})
