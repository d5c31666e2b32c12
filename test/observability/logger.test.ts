import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { createLogger } from '../../observability/logger.ts'
import { useTracing } from '../../observability/tracing.ts'

function memory(): { lines: string[]; destination: { write(line: string): void } } {
  const lines: string[] = []
  return { lines, destination: { write: (line) => void lines.push(line) } }
}

test('writes one JSON object per line, redacted', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ destination }).child({ chain: 'ethereum', url: 'https://node.example/key' })
  logger.info('asked https://node.example/key', { height: 5, wei: 7n })
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    chain: 'ethereum',
    url: 'https://node.example',
    height: 5,
    wei: '7',
    message: 'asked https://node.example',
  })
})

test('keeps to its level, children too', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ level: 'warn', destination })
  logger.info('no')
  logger.child({}).debug('no')
  logger.warn('yes')
  logger.child({}).error('yes')
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['warn', 'error'])
})

test('pretty lines are for people; the stack of an error follows', () => {
  const { lines, destination } = memory()
  const error = Object.assign(new Error('no answer'), { code: 'NODE_UNAVAILABLE', stack: 'Error: no answer\n    at ask' })
  createLogger({ pretty: true, destination }).error('gave up', { chain: 'ethereum', why: 'two words', error })
  const plain = stripVTControlCharacters(lines.join('')).replace(/^\S+/, 'TIME')
  expect(plain).toBe('TIME error gave up chain=ethereum why="two words"\n    NODE_UNAVAILABLE Error: no answer\n        at ask\n')
})

test('a line says which trace it belongs to, and has no field of a line before', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ destination })
  const ids = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }
  logger.info('outside', { first: 1 })
  useTracing({ inSpan: (_, __, work) => work(), fields: () => ids })
  logger.info('inside', { second: 2 })
  useTracing(undefined)
  logger.info('outside again')
  const [outside, inside, again] = lines.map((line) => JSON.parse(line) as object)
  expect(inside).toMatchObject({ ...ids, second: 2, message: 'inside' })
  for (const line of [outside, again]) expect(Object.keys(line!)).not.toContain('trace_id')
  expect(Object.keys(again!)).toEqual(['level', 'time', 'message'])
  expect(Object.keys(inside!)).not.toContain('first')
})
