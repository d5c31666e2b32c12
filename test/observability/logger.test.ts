import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { createLogger } from '../../observability/logger.ts'

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
