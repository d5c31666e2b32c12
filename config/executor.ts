import { z } from 'zod'
import { dollars } from './schema/executor-schema.ts'
import type { ChainConfig, Config } from './schema/schema.ts'

interface ExecutorConfig extends Pick<Config, 'bridges'> {
  readonly chains: Readonly<Record<string, Pick<ChainConfig, 'wormholeChainId'>>>
}

/** The Executor's part of a config in the numbers of its protocol. Undefined if the config has none. */
export function executorOf({ bridges: { executor }, chains }: ExecutorConfig) {
  if (!executor) return undefined
  const { quoter, chains: named, ...promises } = executor
  const served = Object.entries(named).flatMap(([name, { price, baseFee, maxGasLimit, maxMsgValue, maxGasDropOff, ...addresses }]) => {
    const id = chains[name]?.wormholeChainId
    if (id === undefined) return []
    const caps = { maxGasLimit: BigInt(maxGasLimit), maxMsgValue: BigInt(maxMsgValue), maxGasDropOff: BigInt(maxGasDropOff) }
    // Rounded up, because the payer pays the fraction.
    return [[id, { name, ...addresses, price: dollarsOf(price), baseFee: (BigInt(baseFee) + weiPerUnit - 1n) / weiPerUnit, caps }] as const]
  })
  return { ...promises, quoter: quoter.address, signer: quoter.signer, chains: new Map(served) }
}

export type ExecutorSettings = NonNullable<ReturnType<typeof executorOf>>

/** A quote's numbers have 10 decimals. */
const decimals = 10
const weiPerUnit = 10n ** BigInt(18 - decimals)

function dollarsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** `at`: seconds since the epoch, when these prices held. Chain → dollars per coin, 10 decimals. */
const pricesSchema = z.object({ at: z.int().min(1), dollars: z.record(z.string(), dollars.transform(dollarsOf)) })
export type CoinPrices = z.output<typeof pricesSchema>

/** Of a source of `priceFeed`. Undefined for another text. */
export function readPrices(text: string): CoinPrices | undefined {
  try {
    return pricesSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
