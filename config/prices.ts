import { z } from 'zod'
import { dollarsOf } from '../domain/text/amounts.ts'
import { dollars } from './schema/price-feed-schema.ts'
import type { Config } from './schema/schema.ts'

/** `at`: time of the prices, seconds since the epoch. `dollars`: dollars with 10 decimals, by chain or token. */
const pricesSchema = z.object({ at: z.int().min(1), dollars: z.record(z.string(), dollars.transform(dollarsOf)) })

/** Parses the answer of a file or web server of `priceFeed`. Undefined if the text has another form. */
export function readPrices(text: string): z.output<typeof pricesSchema> | undefined {
  try {
    return pricesSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/**
 * Returns a function for the price that the config expects of a chain's coin or of a token, dollars with 10 decimals.
 * The function returns undefined if the config names no price.
 */
export function expectedPrices({ priceFeed, bridges }: Pick<Config, 'priceFeed' | 'bridges'>): (name: string) => bigint | undefined {
  const ofChains = Object.entries(bridges.executor?.chains ?? {}).map(([name, { price }]) => [name, price] as const)
  const expected = new Map([...ofChains, ...Object.entries(priceFeed?.expected ?? {})])
  return (name) => {
    const price = expected.get(name)
    return price === undefined ? undefined : dollarsOf(price)
  }
}
