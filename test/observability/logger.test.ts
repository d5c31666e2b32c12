import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { catalogue } from '../../domain/catalogue/catalogue.ts'
import { createLogger } from '../../observability/logger.ts'
import { useTracing } from '../../observability/tracing.ts'

function memory(): { lines: string[]; destination: { write(line: string): void } } {
  const lines: string[] = []
  return { lines, destination: { write: (line) => void lines.push(line) } }
}

test('the logger writes one JSON object per line, redacted', () => {
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

test('the logger and its children keep to their level', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ level: 'warn', destination })
  logger.info('no')
  logger.child({}).debug('no')
  logger.warn('yes', { code: 'INTERNAL' })
  logger.child({}).error('yes', { code: 'INTERNAL' })
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['warn', 'error'])
})

test('pretty lines are for people; the stack of an error and the remedy follow', () => {
  const { lines, destination } = memory()
  const error = Object.assign(new Error('no answer'), { code: 'NODE_UNAVAILABLE', stack: 'Error: no answer\n    at ask' })
  createLogger({ pretty: true, destination }).error('gave up', { code: 'NODE_UNAVAILABLE', chain: 'ethereum', why: 'two words', error })
  const plain = stripVTControlCharacters(lines.join('')).replace(/^\S+/, 'TIME')
  expect(plain).toBe(
    'TIME error gave up code=NODE_UNAVAILABLE chain=ethereum why="two words"\n    NODE_UNAVAILABLE Error: no answer\n        at ask\n    → ' +
      errorCatalogue.NODE_UNAVAILABLE.remedy +
      '\n',
  )
})

test('a line says which trace it belongs to, and has no field of an earlier line', () => {
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

test("no field occurs twice: a line's fields replace those of its logger, but never the fixed fields", () => {
  const { lines, destination } = memory()
  const logger = createLogger({ destination }).child({ lane: 'a', chain: 'bsc' }).child({ chain: 'ethereum' })
  logger.info('said', { lane: 'b', message: 'other', level: 1, time: 2 })
  expect(parseDocument(lines[0]!, { uniqueKeys: true }).errors).toEqual([])
  expect(JSON.parse(lines[0]!)).toEqual({
    ...{ level: 'info', time: expect.any(String), message: 'said' },
    ...{ lane: 'b', chain: 'ethereum', message_: 'other', level_: 1, time_: 2 },
  })
  expect(parseDocument('{"a":1,"a":2}', { uniqueKeys: true }).errors).toHaveLength(1)
})

test('a warning that needs a person has the remedy of its code, and other lines have none', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ destination })
  logger.warn('no work', { code: 'LANE_FUNDS' })
  logger.error('gone', { code: 'RECEIVER_GONE' })
  logger.info('no work', { code: 'LANE_FUNDS' })
  logger.warn('no work', { code: 'LANE_FUNDS', remedy: 'wait' })
  logger.warn('no work', { code: 'ELSE' as never })
  expect(lines.map((line) => (JSON.parse(line) as { remedy?: string }).remedy)).toEqual([
    errorCatalogue.LANE_FUNDS.remedy,
    catalogue.RECEIVER_GONE.remedy,
    undefined,
    'wait',
    undefined,
  ])
})

test('a logger that joins lines counts repeated warnings, but no information', () => {
  const { lines, destination } = memory()
  const logger = createLogger({ destination, joined: true }).child({ lane: 'a' })
  for (let nonce = 0; nonce < 3; nonce++) {
    logger.warn('refused', { code: 'TRANSACTION_REFUSED', nonce })
    logger.info('seen', { nonce })
  }
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['refused', 'seen', 'seen', 'seen'])
})

test("a stranger's text cannot control the terminal", () => {
  const { lines, destination } = memory()
  createLogger({ pretty: true, destination }).warn('refused\u001b]0;mine\u0007', { code: 'INTERNAL', reason: '\u009b2J\u001b[31m' })
  // Only the colours of the level may be control characters.
  expect(stripVTControlCharacters(lines[0]!)).not.toMatch(/[^\P{Cc}\n]/u)
  expect(lines[0]).toContain('reason=<U+9B>2J<U+1B>[31m')
  expect(lines[0]).toContain('refused<U+1B>]0;mine<U+07>')
})
