import { expect, test } from 'vitest'
import { toFailure } from '../../activities/run-step.ts'
import { revertOf } from '../../chains/evm/transactions/simulate.ts'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { redactFields, redactText } from '../../observability/redact.ts'

const mebibyte = 1_048_576
const long = (unit: string, ending = '') => unit.repeat(mebibyte / unit.length) + ending
/** Limit for 1 MiB, ms. Linear work takes milliseconds, even on a busy machine. A quadratic pattern takes minutes. */
const mostMs = 2_000

function timed(read: () => unknown): number {
  const startedAt = performance.now()
  try {
    read()
  } catch (error) {
    if (!(error instanceof RelayerError)) throw error
  }
  return performance.now() - startedAt
}

const texts = {
  'a URL with 1 MiB of brackets': `http://a${long(')', 'x')}`,
  '1 MiB of URLs': long('http://a.b/c) '),
  '1 MiB of names of secrets': long('secret ', '='),
  '1 MiB of spaces after a name of a secret': `secret${long(' ')}`,
  '1 MiB of bearer tokens': long('bearer '),
  '1 MiB of headers with credentials': long('authorization:a b="'),
  '1 MiB of spaces after a scheme': `authorization: a${long(' ')}`,
} as const

test.each(Object.entries(texts))('redacting %s takes linear time', (_, text) => {
  expect(timed(() => redactText(text))).toBeLessThan(mostMs)
  expect(timed(() => redactFields({ text }))).toBeLessThan(mostMs)
})

test('a text of 1 MiB is cut and says how much is missing', () => {
  const redacted = redactText(`https://user:secret@a.example/key ${'a'.repeat(mebibyte)}`)
  expect(redacted.length).toBeLessThan(33_000)
  expect(redacted).toMatch(/^https:\/\/a\.example a+… \[\d+ characters cut\]$/)
})

test.each([
  ['spaces', long(' ')],
  ['commas and spaces', long(', ')],
  ['data:', long('data: ')],
  ['execution reverted', long('execution reverted ')],
])('the reason of a revert is found in 1 MiB of %s in linear time', (_, message) => {
  const error = (text: string) => new RpcError('a', 'eth_call', { code: 3, message: text, data: '0x' })
  expect(timed(() => revertOf(error(`execution reverted${message}x`)))).toBeLessThan(mostMs)
  expect(timed(() => revertOf(error(`${message}x execution reverted`)))).toBeLessThan(mostMs)
  expect(timed(() => revertOf(error(`x${message}x`)))).toBeLessThan(mostMs)
})

test.each([
  ['equals signs', long('=', 'x')],
  ['hex digits', long('ab', 'x')],
  ['spaces', long(' ', 'x')],
])('a message of 1 MiB of %s is refused in linear time', (_, text) => {
  expect(timed(() => messageBytes(text))).toBeLessThan(mostMs)
})

test('a failure in a history has at most 4,000 characters of its message', () => {
  const { message } = toFailure(new RelayerError('NODE_UNAVAILABLE', { detail: long('a') }))
  expect(message.length).toBeLessThanOrEqual(4_000)
})
