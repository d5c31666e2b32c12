import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPriceFeed } from '../../workers/roles/price-feed.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { listenHttp } from '../helpers/servers.ts'

const unit = 10n ** 10n
const at = 1_800_000_000
const limits = { everySeconds: 0, maxAgeSeconds: 60, mostChangePercent: 50 }
const clock = { seconds: at }
const feedOf = (...sources: Parameters<typeof createPriceFeed>[0]['sources']) =>
  createPriceFeed(
    { ...limits, sources },
    () => 3_000n * unit,
    () => clock.seconds * 1_000,
  )
const prices = (ethereum: string, when = at) => JSON.stringify({ at: when, dollars: { ethereum } })
const path = join(temporaryFolder(), 'prices.json')
const serve = (answer: () => string) => listenHttp((_, response) => void response.end(answer()))

test('a file is read again, and its prices expire', async () => {
  clock.seconds = at
  const price = feedOf({ kind: 'file', path })
  await expect(price('ethereum', 'source')).rejects.toMatchObject({ code: 'EXECUTOR_PRICES', retriable: true })
  await writeFile(path, prices('3100.5'))
  expect(await price('ethereum', 'source')).toBe(31_005n * (unit / 10n))
  await writeFile(path, prices('3200', at + 1))
  expect(await price('ethereum', 'source')).toBe(3_200n * unit)
  await writeFile(path, prices('3300'))
  expect(await price('ethereum', 'source')).toBe(3_200n * unit)
  await expect(price('bsc', 'source')).rejects.toThrow('no price of the chain')
  clock.seconds = at + 62
  await expect(price('ethereum', 'source')).rejects.toThrow('61 s old')
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
  expect(refusal).toMatchObject({ code: 'EXECUTOR_PRICES', message: expect.stringContaining('an answer that is too long') })
  expect(String(refusal)).not.toContain('secret-key')
})

test.each([
  ['lower', '1600'],
  ['higher', '4400'],
])('of two prices the one that is worse for the payer counts, if a source answers with a %s price', async (_, wrong) => {
  clock.seconds = at
  const answers = ['3000', wrong].map((one) => prices(one))
  const urls = await Promise.all(['absent', ...answers].map((answer) => serve(() => answer)))
  const price = feedOf(...urls.map((url) => ({ kind: 'http', url }) as const))
  const [low, high] = [3_000n, BigInt(wrong)].toSorted((a, b) => Number(a - b))
  expect(await price('ethereum', 'source')).toBe(low! * unit)
  expect(await price('ethereum', 'target')).toBe(high! * unit)
})

test.each([
  ['far from the price of the config', prices('1499'), 'more than 50 %'],
  ['of the future', prices('3000', at + 61), 'ahead of the clock'],
  ['below zero', prices('-3000'), 'expected form'],
  ['of another form', '{"ethereum":3000}', 'expected form'],
])('a price %s makes no quote', async (_, text, why) => {
  clock.seconds = at
  const url = await serve(() => text)
  await expect(feedOf({ kind: 'http', url })('ethereum', 'source')).rejects.toThrow(why)
})
