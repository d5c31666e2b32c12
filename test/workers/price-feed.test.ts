import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AbiCoder, id } from 'ethers'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { createPriceFeed } from '../../operations/prices/price-feed.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { listenHttp } from '../helpers/servers.ts'

const unit = 10n ** 10n
const at = 1_800_000_000
const limits = { everySeconds: 0, expected: {}, mostChangePercent: 50 }
type Source = Parameters<typeof createPriceFeed>[0]['sources'][number]
type Unaged<One = Source> = One extends Source ? Omit<One, 'maxAgeSeconds'> : never
const clock = { seconds: at }
const feedOf = (...sources: Unaged[]) =>
  createPriceFeed(
    { ...limits, sources: sources.map((source): Source => ({ ...source, maxAgeSeconds: 60 })) },
    {
      expected: (name) => (name === 'ethereum' ? 3_000n * unit : undefined),
      readerOf: (name) => (name === 'ethereum' ? oracles : undefined),
      now: () => clock.seconds * 1_000,
    },
  )
const prices = (ethereum: string, when = at) => JSON.stringify({ at: when, dollars: { ethereum } })
const path = join(temporaryFolder(), 'prices.json')
const serve = (answer: () => string) => listenHttp((_, response) => void response.end(answer()))

test('a file is read again, and its prices expire', async () => {
  clock.seconds = at
  const price = feedOf({ kind: 'file', path })
  await expect(price('ethereum', 'source')).rejects.toMatchObject({ code: 'PRICE_MISSING', retriable: true })
  await writeFile(path, prices('3100.5'))
  expect(await price('ethereum', 'source')).toBe(31_005n * (unit / 10n))
  await writeFile(path, prices('3200', at + 1))
  expect(await price('ethereum', 'source')).toBe(3_200n * unit)
  await writeFile(path, prices('3300'))
  expect(await price('ethereum', 'source')).toBe(3_200n * unit)
  await expect(price('bsc', 'source')).rejects.toThrow('it has no price')
  clock.seconds = at + 62
  await expect(price('ethereum', 'source')).rejects.toThrow('61 s old')
})

const roundAt = at
/**
 * Oracles whose answer depends on the last digit of their contract. On 2, the nodes disagree. 3 answers 0. 4 has 18
 * decimals instead of 8.
 */
const oracles: ContractReader = {
  name: 'ethereum',
  async call(to, data, at) {
    expect(at).toBe('majority-latest')
    if (to.endsWith('2')) throw new RelayerError('NODES_DISAGREE')
    if (data === id('decimals()').slice(0, 10)) return AbiCoder.defaultAbiCoder().encode(['uint8'], [to.endsWith('4') ? 18 : 8])
    const answer = to.endsWith('3') ? 0n : to.endsWith('4') ? 2n * 10n ** 18n : 3_100_50000000n
    return AbiCoder.defaultAbiCoder().encode(['uint80', 'int256', 'uint256', 'uint256', 'uint80'], [1, answer, roundAt, roundAt, 1])
  },
}
const contract = (digit: number) => `0x${'0'.repeat(39)}${digit}`
const token = `2/${'ab'.repeat(32)}`

test('oracles on a chain give prices of coins and tokens, each with its own age', async () => {
  clock.seconds = at + 60
  const feeds = { ethereum: contract(1), bsc: contract(2), base: contract(3), [token]: contract(4) }
  const price = feedOf({ kind: 'oracle', chain: 'ethereum', feeds })
  expect(await price('ethereum', 'source')).toBe(31_005n * (unit / 10n))
  expect(await price(token, 'source')).toBe(2n * unit)
  await expect(price('bsc', 'source')).rejects.toThrow('bsc: NODES_DISAGREE')
  await expect(price('base', 'source')).rejects.toThrow('base: PRICE_MISSING')
  clock.seconds = at + 61
  await expect(price('ethereum', 'source')).rejects.toThrow('oracles on ethereum: its price is 61 s old')
  const elsewhere = feedOf({ kind: 'oracle', chain: 'bsc', feeds })
  await expect(elsewhere('ethereum', 'source')).rejects.toThrow('not connected to the chain')
})

test('most sources must have a price, and the median counts', async () => {
  clock.seconds = at
  const answers = ['3000', '3100', '1'].map((one) => prices(one))
  const urls = await Promise.all(answers.map((_, index) => serve(() => answers[index]!)))
  const price = feedOf(...urls.map((url) => ({ kind: 'http', url: `${url}/secret-key` }) as const))
  expect(await price('ethereum', 'source')).toBe(3_000n * unit)
  answers[2] = 'x'.repeat(100_000)
  expect(await price('ethereum', 'source')).toBe(3_000n * unit)
  clock.seconds = at + 61
  answers[0] = prices('3050', at + 61)
  const refusal = await price('ethereum', 'source').catch((error: Error) => error)
  expect(refusal).toMatchObject({ code: 'PRICE_MISSING', message: expect.stringContaining('an answer that is too long') })
  expect(String(refusal)).not.toContain('secret-key')
})

test.each([
  ['lower', '2100'],
  ['higher', '4400'],
])('of two prices, the price that is worse for the payer counts, if one source has a %s price', async (_, wrong) => {
  clock.seconds = at
  const answers = ['3000', wrong].map((one) => prices(one))
  const urls = await Promise.all(['absent', ...answers].map((answer) => serve(() => answer)))
  const price = feedOf(...urls.map((url) => ({ kind: 'http', url }) as const))
  const [low, high] = [3_000n, BigInt(wrong)].toSorted((a, b) => Number(a - b))
  expect(await price('ethereum', 'source')).toBe(low! * unit)
  expect(await price('ethereum', 'target')).toBe(high! * unit)
})

test('a price does not wait for a slow source, unless too few other sources have a current price', async () => {
  clock.seconds = at
  const held: (() => void)[] = []
  const slow = await listenHttp((_, response) => void held.push(() => response.end(prices('3200'))))
  const [one, other] = [await serve(() => prices('3000')), await serve(() => prices('3100'))]
  const fast = feedOf(...[slow, one, other].map((url) => ({ kind: 'http', url }) as const))
  const start = performance.now()
  expect(await fast('ethereum', 'target')).toBe(3_100n * unit)
  expect(performance.now() - start).toBeLessThan(3_000)
  const price = feedOf({ kind: 'http', url: slow }, { kind: 'http', url: one })('ethereum', 'target')
  await expect.poll(() => held.length).toBe(2)
  const answerLater = setTimeout(() => held[1]?.(), 700)
  expect(await price).toBe(3_200n * unit)
  clearTimeout(answerLater)
})

test('a limit of 100 % or more still refuses a price that fell by a larger factor', async () => {
  clock.seconds = at
  const url = await serve(() => prices('1499'))
  const atMost = (mostChangePercent: number) =>
    createPriceFeed(
      { ...limits, mostChangePercent, sources: [{ kind: 'http', url, maxAgeSeconds: 60 }] },
      { expected: () => 3_000n * unit, readerOf: () => undefined, now: () => clock.seconds * 1_000 },
    )('ethereum', 'source')
  await expect(atMost(100)).rejects.toThrow('more than 100 %')
  expect(await atMost(101)).toBe(1_499n * unit)
})

test('the limit of a change is the same factor up and down, for every percentage', async () => {
  clock.seconds = at
  let text = ''
  const url = await serve(() => text)
  const isAccepted = (mostChangePercent: number, dollars: string) => {
    text = prices(dollars)
    const deps = { expected: () => 3_000n * unit, readerOf: () => undefined, now: () => clock.seconds * 1_000 }
    const feed = createPriceFeed({ ...limits, mostChangePercent, sources: [{ kind: 'http', url, maxAgeSeconds: 60 }] }, deps)
    return feed('ethereum', 'source').then(
      () => true,
      () => false,
    )
  }
  const limitsOf: readonly [number, string, string][] = [
    [50, '2000', '4500'],
    [100, '1500', '6000'],
    [200, '1000', '9000'],
  ]
  for (const [percent, least, most] of limitsOf)
    for (const [dollars, accepted] of [
      [`${Number(least) - 1}.9999999999`, false],
      [least, true],
      [most, true],
      [`${most}.0000000001`, false],
    ] as const)
      expect([percent, dollars, await isAccepted(percent, dollars)]).toEqual([percent, dollars, accepted])
})

test('a price with a time in the future does not block later prices', async () => {
  clock.seconds = at
  const answers = [prices('3000', at * 1_000), prices('3100', at)]
  const url = await serve(() => answers.shift() ?? '')
  const price = feedOf({ kind: 'http', url })
  await expect(price('ethereum', 'source')).rejects.toThrow('ahead of the clock')
  expect(await price('ethereum', 'source')).toBe(3_100n * unit)
})

test('a malformed entry removes no other price, and new names displace old names', async () => {
  clock.seconds = at
  const namesFrom = (first: number) => Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`n${first + index}`, '1']))
  const answers = [{ ethereum: '3000', bsc: '0', base: '0.00000000001' }, namesFrom(0), namesFrom(5_000)]
  const url = await serve(() => JSON.stringify({ at, dollars: answers[0] }))
  const price = feedOf({ kind: 'http', url })
  expect(await price('ethereum', 'source')).toBe(3_000n * unit)
  await expect(price('bsc', 'source')).rejects.toThrow('prices in another form: bsc, base')
  answers.shift()
  expect(await price('n4999', 'source')).toBe(unit)
  answers.shift()
  expect(await price('n9999', 'source')).toBe(unit)
  await expect(price('ethereum', 'source')).rejects.toThrow('it has no price')
})

test('if an answer has the maximum number of names, the first name keeps its price', async () => {
  clock.seconds = at
  const letters = Array.from({ length: 93 }, (_, index) => String.fromCodePoint(33 + index)).filter((one) => one !== '"' && one !== '\\')
  const names = letters.flatMap((one) => letters.map((other) => `${one}${other}`)).slice(0, 7_200)
  const text = JSON.stringify({
    at,
    dollars: Object.fromEntries(['ethereum', ...names].map((name) => [name, name === 'ethereum' ? '3000' : '1'])),
  })
  expect(text.length).toBeGreaterThan(64_000)
  const url = await serve(() => text)
  expect(await feedOf({ kind: 'http', url })('ethereum', 'source')).toBe(3_000n * unit)
})

test.each([
  ['far from the price of the config', prices('1499'), 'more than 50 %'],
  ['of the future', prices('3000', at + 61), 'ahead of the clock'],
  ['below zero', prices('-3000'), 'prices in another form: ethereum'],
  ['of another form', '{"ethereum":3000}', 'expected form'],
])('a source with prices %s does not lead to a quote', async (_, text, why) => {
  clock.seconds = at
  const url = await serve(() => text)
  await expect(feedOf({ kind: 'http', url })('ethereum', 'source')).rejects.toThrow(why)
})
