import { z } from 'zod'
import { address, chainName, path, text, url, usually, whole } from '../load/values.ts'
import { originToken } from './bridge-schema.ts'

/**
 * At most 8 digits, so that a price fits into a quote (below 2^64 / 10^10 dollars) even if a margin of 1,000 % makes it
 * 11 times as high.
 */
export const dollars = text(
  /^[0-9]{1,8}(\.[0-9]{1,10})?$/,
  'must be dollars in quotes, like 3000.25: at most 8 digits, and 10 after the point',
).refine((value) => /[1-9]/.test(value), 'must be above 0')

/** Key of a price: a chain (for the price of its coin), or a token on its native chain. */
const priced = z.union([chainName, originToken], {
  error: 'must be a chain of this config, or <wormhole chain id>/<64 hex digits of the token>',
})

const age = (usual: number) =>
  usually(whole(10, 604_800), usual).describe('Maximum age of a price of this source, seconds. An older price is not used.')

export const priceFeedSchema = z
  .strictObject({
    sources: z
      .array(
        z.discriminatedUnion('kind', [
          z.strictObject({
            kind: z.literal('file').describe('A file of this machine.'),
            path: path.describe(
              'A JSON file, relative to the config file: `at` (seconds since the epoch) and `dollars` (chain or token → price as text).',
            ),
            maxAgeSeconds: age(600),
          }),
          z.strictObject({
            kind: z.literal('http').describe('A web server.'),
            url: url.describe('URL that answers GET with a price file as JSON, of at most 64 KiB.'),
            maxAgeSeconds: age(600),
          }),
          z.strictObject({
            kind: z.literal('oracle').describe('Price feeds on a chain. Most nodes of the chain must agree on each answer.'),
            chain: chainName.describe('The chain of the price feeds.'),
            feeds: z
              .record(priced, address)
              .describe(
                "Name of a chain, or a token → price feed contract on `chain` (Chainlink AggregatorV3Interface). The contract gives the price of that chain's coin, or of the token, in dollars.",
              ),
            maxAgeSeconds: age(4_500),
          }),
        ]),
      )
      .min(1)
      .max(9)
      .describe(
        'Sources of prices. More than half of the sources must have a current price. Portage uses the median. If the number of prices is even, it uses the middle price that makes the delivery more expensive.',
      ),
    everySeconds: usually(whole(1, 3_600), 30).describe('Minimum time between two readings of the sources, seconds.'),
    expected: usually(z.record(priced, dollars), {}).describe(
      'Chain or token → usual price of the coin or the token, dollars. Absent for a chain: its `price` in `bridges.executor`.',
    ),
    mostChangePercent: usually(whole(1, 1_000), 50).describe(
      'Maximum rise of a feed price above the expected price, percent. A fall is limited by the same factor: with 50, a price may rise to 1.5 times the expected price, or fall to two thirds of it. Portage does not use a price that differs more.',
    ),
  })
  .optional()
  .describe(
    'Prices of coins and tokens, which Portage reads repeatedly for quotes of the Executor, and for fees of the token bridge. Absent: the prices in the config.',
  )
