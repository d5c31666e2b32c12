import { z } from 'zod'
import { dollarsOf } from '../domain/text/amounts.ts'
import { dollars } from './schema/price-feed-schema.ts'
import type { Config } from './schema/schema.ts'

/** `at`: seconds since the epoch. */
const pricesSchema = z.object({ at: z.int().min(1), dollars: z.record(z.string(), z.unknown()) })

/**
 * Parses the answer of a file or web server of `priceFeed`: dollars with 10 decimals by chain or token, and the names
 * whose price is malformed. Undefined if the whole text is malformed.
 */
export function readPrices(text: string) {
  try {
    const { at, dollars: given } = pricesSchema.parse(JSON.parse(text))
    const read = Object.entries(given).map(([name, value]) => [name, dollars.safeParse(value).data] as const)
    const malformed = read.filter(([, value]) => value === undefined).map(([name]) => name)
    return { at, dollars: new Map(read.flatMap(([name, value]) => (value === undefined ? [] : [[name, dollarsOf(value)]]))), malformed }
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
