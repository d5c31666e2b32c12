import { describe, expect, test } from 'vitest'
import type { Links } from '../../../api/answers.ts'
import { coinsText, countText, grouped, priceText, shareOf } from '../../../api/page/format/amounts.ts'
import { laneParts, shortHex, shortTransfer, streamParts } from '../../../api/page/format/ids.ts'
import { accountUrl, coinOfChain, safeUrl, transactionUrl, workflowUrl } from '../../../api/page/format/links.ts'
import { spanText, timeOf } from '../../../api/page/format/time.ts'
import type { StreamRow } from '../../../api/page/data/shapes.ts'
import { streamStateOf, toneOf } from '../../../api/page/format/tone.ts'
import type { TransactionFate } from '../../../domain/transfer/attempts.ts'
import { transferStates } from '../../../domain/transfer/transfer.ts'

const thin = '\u202f'

describe('times', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [6_240, '6.2 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min'],
    [80_000, '1 min 20 s'],
    [3_600_000, '1 h'],
    [7_500_000, '2 h 5 min'],
    [180_000_000, '2 d 2 h'],
  ])('a span of %d ms is %s', (ms, text) => expect(spanText(ms)).toBe(text))

  test('a time that no date can represent is undefined, so that it fails no view of the page', () => {
    expect([1e20, -8.64e15 - 1, Infinity, '1e20'].map(timeOf)).toEqual([undefined, undefined, undefined, undefined])
    expect([8.64e15, -8.64e15].map(timeOf)).toEqual([8.64e15, -8.64e15])
  })

  test('a malformed time is undefined', () => {
    expect([timeOf('2026-11-22T21:18:05Z'), timeOf(5), timeOf('soon'), timeOf(undefined), timeOf(null)]).toEqual([
      Date.UTC(2026, 10, 22, 21, 18, 5),
      5,
      ...[undefined, undefined, undefined],
    ])
  })
})

describe('amounts', () => {
  test.each([
    ['0', '0 ETH'],
    ['999999', `999${thin}999 wei`],
    ['99999999999999', `99${thin}999.9 gwei`],
    ['1234567890123456', '0.00123456 ETH'],
    ['1234567000000000000000000', `1${thin}234${thin}567 ETH`],
    ['-5', ''],
    ['1e18', ''],
    [undefined, ''],
  ])('%s wei are %s: as on the command line, in groups', (wei, text) => expect(coinsText(wei, 'ETH')).toBe(text))

  test('an amount of a token has groups before its point, and one in raw units says so', () => {
    expect(['1234567.891234', '1500000 raw units'].map(grouped)).toEqual([
      `1${thin}234${thin}567.891234`,
      `1${thin}500${thin}000 raw units`,
    ])
  })

  test('counts of any length have groups, and other texts are unchanged', () => {
    expect([countText(1234), countText('18446744073709551615'), countText('none')]).toEqual([
      `1${thin}234`,
      `18${thin}446${thin}744${thin}073${thin}709${thin}551${thin}615`,
      'none',
    ])
  })

  test('prices of gas are in gwei', () => {
    expect([priceText('5000000000'), priceText('1250000000'), priceText('7'), priceText(undefined), priceText('x')]).toEqual([
      '5 gwei',
      '1.25 gwei',
      '7 wei',
      ...['', ''],
    ])
  })

  test('a share is between 0 and 1, and undefined without a limit', () => {
    expect([shareOf(1, 4), shareOf('8', 4), shareOf(1, 0), shareOf(undefined, 4), shareOf('x', 4)]).toEqual([
      0.25,
      1,
      ...[undefined, undefined, undefined],
    ])
  })
})

describe('ids', () => {
  const emitter = `${'0'.repeat(24)}${'ab'.repeat(20)}`

  test('the short id of a transfer is accepted by commands; other texts are cut', () => {
    expect(shortTransfer(`wormhole-token-bridge:2:${emitter}:269170:6d1b4c0c5f0a3e21`)).toBe('269170:6d1b4c0c5f0a3e21')
    expect(shortTransfer('x'.repeat(500))).toHaveLength(80)
    expect(shortTransfer('<img src=x>')).toBe('<img src=x>')
  })

  test('ids of lanes, streams and hashes are shortened', () => {
    expect(laneParts(`evm-1:0x${'5'.repeat(40)}`)).toEqual({ network: 'evm-1', address: `0x${'5'.repeat(40)}` })
    expect(laneParts('nothing')).toEqual({ network: 'nothing', address: undefined })
    expect(streamParts('native-bridge:ethereum:bsc')).toEqual({ bridge: 'native-bridge', source: 'ethereum', rest: 'bsc' })
    expect(streamParts(`wormhole-token-bridge:ethereum:${emitter}`)).toMatchObject({ rest: 'emitter abababab' })
    expect(shortHex(`0x${'1'.repeat(64)}`)).toBe('0x111111…1111')
  })
})

describe('links', () => {
  const links: Links = {
    namespace: 'a b',
    temporalWebUi: 'http://127.0.0.1:8233',
    chains: {
      ethereum: { networkId: 1, explorer: 'https://etherscan.io/', coin: 'ETH' },
      bad: { networkId: 2, explorer: 'javascript:alert(1)//' },
      bare: { networkId: 3 },
    },
  }
  const hash = `0x${'a'.repeat(64)}`

  test.each([
    ['https://etherscan.io/tx/1', 'https://etherscan.io/tx/1'],
    ['http://127.0.0.1:8233/x', 'http://127.0.0.1:8233/x'],
    ['http://localhost:8233/', 'http://localhost:8233/'],
    ['http://[::1]:8233/', 'http://[::1]:8233/'],
    ['http://explorer.example/', undefined],
    ['http://127.0.0.1.example/', undefined],
    ['https://user:pass@etherscan.io/', undefined],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['//etherscan.io/', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s leads to %s', (text, url) => expect(safeUrl(text)).toBe(url))

  test('only hashes and addresses of a chain with an explorer are linked', () => {
    expect(transactionUrl(links, 'ethereum', hash)).toBe(`https://etherscan.io/tx/${hash}`)
    expect(accountUrl(links, 'ethereum', `0x${'b'.repeat(40)}`)).toBe(`https://etherscan.io/address/0x${'b'.repeat(40)}`)
    expect(transactionUrl(links, 'ethereum', '0x1/../../evil')).toBeUndefined()
    expect(transactionUrl(links, 'bad', hash)).toBeUndefined()
    expect(transactionUrl(links, 'bare', hash)).toBeUndefined()
    expect(transactionUrl(links, 'constructor', hash)).toBeUndefined()
    expect(transactionUrl(undefined, 'ethereum', hash)).toBeUndefined()
  })

  test('an amount has the coin of its chain, if it is known', () => {
    expect(['ethereum', 'bare', 'constructor', undefined].map((chain) => coinOfChain(links, chain))).toEqual([
      'ETH',
      ...[undefined, undefined, undefined],
    ])
    expect(coinOfChain(undefined, 'ethereum')).toBeUndefined()
  })

  test('the link to a workflow has its whole id escaped', () => {
    expect(workflowUrl(links, 'a:b/../c')).toBe('http://127.0.0.1:8233/namespaces/a%20b/workflows/a%3Ab%2F..%2Fc')
    expect(workflowUrl({ namespace: 'x', chains: {} }, 'a')).toBeUndefined()
  })
})

test('every state of a transfer has a tone, and an unknown one is neither good nor bad', () => {
  expect(Object.fromEntries(transferStates.map((state) => [state, toneOf(state)]))).toEqual({
    ...{ admitting: 'busy', waiting: 'wait', broadcasting: 'busy', pending: 'busy', included: 'busy', parked: 'bad' },
    ...{ delivered: 'good', rejected: 'off', declined: 'off', cancelled: 'off' },
  })
  expect([toneOf('constructor'), toneOf('new')]).toEqual(['off', 'off'])
})

test('every fate of a transaction has a tone, and a lane whose chain does not answer is bad', () => {
  const fates: Record<TransactionFate, unknown> = {
    ...{ recorded: 'busy', signed: 'busy', pending: 'busy', mined: 'good', reverted: 'bad' },
    ...{ replaced: 'off', reorged: 'wait', dropped: 'off' },
  }
  expect(Object.fromEntries(Object.keys(fates).map((fate) => [fate, toneOf(fate)]))).toEqual(fates)
  expect(toneOf('chain away')).toBe('bad')
})

test('a stream is green only if its source has new blocks, it follows them, and an intake reports', () => {
  const now = Date.UTC(2026, 0, 1)
  const at = (ageMs: number) => new Date(now - ageMs).toISOString()
  const shown = (row: object) => {
    const { state, tone } = streamStateOf({ headAt: at(1_000), ...row } as StreamRow, now)
    return [state, tone]
  }
  expect(shown({})).toEqual(['following', 'good'])
  expect(shown({ headAt: at(61_000) })).toEqual(['no new block', 'wait'])
  expect(shown({ silentSince: at(700_000) })).toEqual(['silent', 'bad'])
  expect(shown({ alarms: ['forked'] })).toEqual(['following', 'bad'])
  expect(shown({ full: true })).toEqual(['full', 'wait'])
  expect(shown({ backfill: { left: 9 } })).toEqual(['reading back', 'busy'])
})
