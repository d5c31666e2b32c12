import { expect, test } from 'vitest'
import { createBatchSize, isTooLarge, parseAnswers } from '../../chains/evm/nodes/json-rpc.ts'

const calls = [
  { id: 1, method: 'eth_estimateGas' },
  { id: 2, method: 'eth_getBalance' },
]
const says = (id: number | null, message: string, code = -32000) => ({ id, error: { code, message } })

test("a batch counts as too large only if the node's error is about the batch", () => {
  expect(isTooLarge(undefined, 413, calls)).toBe(true)
  expect(isTooLarge([says(null, 'batch too large')], 200, calls)).toBe(true)
  expect(isTooLarge([says(1, 'batch too large', -32600)], 200, calls)).toBe(true)
  expect(isTooLarge([says(1, 'no batches'), says(2, 'Batch of more than 3 requests')], 200, calls)).toBe(true)
})

test("a contract's error says nothing about the batch", () => {
  expect(isTooLarge([says(1, 'execution reverted: batch too large', 3), { id: 2, result: '0x1' }], 200, calls)).toBe(false)
  expect(isTooLarge([says(1, 'execution reverted: batch', -32600), { id: 2, result: '0x1' }], 200, calls)).toBe(false)
  expect(isTooLarge([says(1, 'batch', 3)], 200, calls)).toBe(false)
})

test('a refused batch size is tried again: twice as many calls each minute', () => {
  let now = 0
  const batches = createBatchSize(() => now)
  expect(batches.size).toBe(100)
  batches.refused(100)
  batches.refused(50)
  expect(batches.size).toBe(25)
  now = 59_999
  expect(batches.size).toBe(25)
  now = 60_000
  expect(batches.size).toBe(50)
  now = 600_000
  expect(batches.size).toBe(100)
})

test('an answer with far more results than calls is refused', () => {
  const answers = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({ id: 1, result: '0x1' })))
  expect(parseAnswers(answers(4), 2)).toHaveLength(4)
  expect(parseAnswers(answers(5), 2)).toBeUndefined()
})
