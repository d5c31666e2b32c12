import { AbiCoder } from 'ethers'
import { describe, expect, test } from 'vitest'
import { readFeeHistory } from '../../chains/evm/fees/fees.ts'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { createRedactor, readError } from '../../chains/evm/nodes/json-rpc.ts'
import { decodeReason, revertOf, withFactor } from '../../chains/evm/transactions/simulate.ts'

const coder = AbiCoder.defaultAbiCoder()
const errorData = (text: string) => `0x08c379a0${coder.encode(['string'], [text]).slice(2)}`
const panicData = (code: number) => `0x4e487b71${coder.encode(['uint256'], [code]).slice(2)}`
const rpcError = (error: { code?: number; message: string; data?: unknown }) => new RpcError('http://node', 'eth_estimateGas', error)

describe('reverts', () => {
  test('the reason of a revert is read from a text, panic or custom error, also if missing or malformed', () => {
    expect(decodeReason(errorData('transfer already completed'))).toBe('transfer already completed')
    expect(decodeReason(panicData(0x11))).toBe('panic 17: arithmetic overflow')
    expect(decodeReason(panicData(0x99))).toBe('panic 153: unknown code')
    expect(decodeReason('0x12345678aabb')).toBe('custom error 0x12345678')
    expect(decodeReason('0x08c379a0ffff')).toBe('malformed revert 0x08c379a0')
    expect(decodeReason('0x')).toBeUndefined()
    expect(decodeReason(errorData(`a\nb\u0000${'x'.repeat(900)}`))).toHaveLength(300)
  })

  const data = errorData('no')
  test.each([
    ['go-ethereum, reth, anvil', { code: 3, message: 'execution reverted: no', data }],
    ['Nethermind', { code: -32015, message: 'VM execution error.', data: `Reverted ${data}` }],
    ['OpenEthereum', { code: -32015, message: 'VM execution error.', data: `Reverted ${data}` }],
    ['Ganache', { code: -32000, message: 'VM Exception while processing transaction: revert no', data: { hash: '0x01', result: data } }],
    ['a gateway', { code: -32603, message: 'execution reverted', data: { data } }],
    ['Besu', { code: -32000, message: 'Execution reverted', data }],
  ])('a revert is read: %s', (_, error) => {
    expect(revertOf(rpcError(error))).toEqual({ data, reason: 'no' })
  })

  test('the message is the reason of a revert without data', () => {
    expect(revertOf(rpcError({ code: 3, message: 'execution reverted: paused', data: '0x' }))).toEqual({ data: '0x', reason: 'paused' })
    expect(revertOf(rpcError({ code: -32000, message: 'execution reverted' }))).toEqual({ data: '0x', reason: 'execution reverted' })
    expect(revertOf(rpcError({ code: -32603, message: 'EVM error InvalidFEOpcode' }))).toEqual({
      data: '0x',
      reason: 'EVM error InvalidFEOpcode',
    })
  })

  test('an answer that is no revert is not read as one', () => {
    for (const message of ['missing trie node', 'header not found', 'internal error', 'rate limit exceeded']) {
      expect(revertOf(rpcError({ code: -32000, message, data: '0xdeadbeefdeadbeef' }))).toBeUndefined()
    }
    expect(revertOf(new Error('execution reverted'))).toBeUndefined()
  })
})

describe('gas and fees', () => {
  test("the gas factor rounds up, within the block's limit and never below the estimate", () => {
    expect(withFactor(100_001, 1.2, 30_000_000n)).toBe(120_002n)
    expect(withFactor(29_000_000, 1.2, 30_000_000n)).toBe(30_000_000n)
    expect(withFactor(31_000_000, 1.2, 30_000_000n)).toBe(31_000_000n)
    expect(withFactor(21_000, 1, undefined)).toBe(21_000n)
  })

  test("a quote has the next block's base fee, and the median tip of the blocks that were used", () => {
    const history = {
      baseFeePerGas: ['0xa', '0xb', '0xc', '0xd', '0x64'],
      gasUsedRatio: [0.5, 0, 0.9, 0.1],
      reward: [['0x5'], ['0x0'], ['0x9'], ['0x7']],
    }
    expect(readFeeHistory(history, 4)).toMatchObject({ next: 100n, tip: 7n })
    expect(readFeeHistory(history, 2)).toMatchObject({ next: 100n, tip: 9n })
    expect(readFeeHistory({ baseFeePerGas: ['0x1', '0x2'], gasUsedRatio: [0], reward: [['0x0']] }, 4)).toMatchObject({ next: 2n, tip: 1n })
    expect(readFeeHistory({ baseFeePerGas: ['0x1', '0x2'], gasUsedRatio: [0.5], reward: null }, 4)).toMatchObject({ next: 2n, tip: 1n })
    expect(() => readFeeHistory({ baseFeePerGas: [] }, 4)).toThrowError(expect.objectContaining({ code: 'NODE_REFUSED' }))
  })
})

test('redaction removes credentials, path and query of URLs, and no words', () => {
  const redact = createRedactor(new URL('https://user:pa%40ssword@node.example/v2/AbCdEf0123456789?token=tok3n&x=1'))
  expect(redact('at https://user:pa%40ssword@node.example/v2/AbCdEf0123456789?token=tok3n&x=1')).toBe('at [redacted]')
  expect(redact('key AbCdEf0123456789, tok3n, pa@ssword')).toBe('key [redacted], [redacted], [redacted]')
  expect(redact('nonce too low at node.example, 1 of v2')).toBe('nonce too low at node.example, 1 of v2')
  expect(redact('upstream https://other:hunter2@up.example failed')).toBe('upstream https://[redacted]@up.example failed')
})

test.each([
  [
    `Basic ${Buffer.from('relay:hunter2-secret').toString('base64')}`,
    'user relay, password hunter2-secret',
    'user [redacted], password [redacted]',
  ],
  [`basic ${Buffer.from('relay:pass:word').toString('base64')}`, 'relay:pass:word or pass:word', '[redacted] or [redacted]'],
  ['Token token="abcd1234efgh"', 'unknown token abcd1234efgh', 'unknown token [redacted]'],
  ['Key key=abcd1234efgh', 'no such key abcd1234efgh', 'no such key [redacted]'],
  ['Bearer abcd1234efgh', 'Bearer expected, not abcd1234efgh', 'Bearer expected, not [redacted]'],
  ['abcd1234efgh', 'header abcd1234efgh', 'header [redacted]'],
])('redaction takes the values of the header %s', (authorization, text, clean) => {
  expect(createRedactor(new URL('https://n.example/'), authorization)(text)).toBe(clean)
})

test('an error of 30 MiB is searched for secrets only in its first 64 KiB', () => {
  let searched = 0
  const redact = (text: string) => {
    searched += text.length
    return text
  }
  const long = 'x'.repeat(30 * 1_048_576)
  const { message, data } = readError({ code: 3, message: long, data: { reverted: [long, long] } }, redact)
  expect(message.length).toBe(65_536)
  expect(searched).toBeLessThanOrEqual(65_536 + 'reverted'.length)
  expect(JSON.stringify(data).length).toBeLessThan(100)
})
