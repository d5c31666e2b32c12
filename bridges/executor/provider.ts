import { concat } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import type { PriceOf } from '../port.ts'
import { type Caps, exceeded } from './judge.ts'
import { costOf, divideUp, encodeQuote, withDataFee } from './quote.ts'
import { decodeInstructions, type RequestPrefix } from './requests.ts'

export interface ProviderChain {
  readonly name: ChainName
  /** Account that gets the payments: 0x, lower case. */
  readonly payee: string
  /** Coins of the chain, 10 decimals. */
  readonly baseFee: bigint
  readonly caps: Caps
  readonly prefixes: readonly RequestPrefix[]
}

export interface ProviderOptions {
  readonly quoter: string
  readonly expirySeconds: number
  readonly marginPercent: number
  readonly chains: ReadonlyMap<number, ProviderChain>
  /** The quoter's signature, 65 bytes. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>
  readonly priceOf: PriceOf
  /** Wei per gas unit. Throws NODE_UNAVAILABLE. */
  readonly gasPriceOf: (chain: ChainName) => Promise<bigint>
  /** Returns the target's current fee for `pricedDataBytes` of data, wei. Throws NODE_UNAVAILABLE, NODE_REFUSED. */
  readonly dataFeeOf: (chain: ChainName) => Promise<bigint>
  readonly assertOpen: (source: ChainName, target: ChainName) => void
  readonly now?: () => number
}

/** Chains are Wormhole chain ids. Without `instructions`, the answer has no `cost`. */
export interface QuoteRequest {
  readonly source: number
  readonly target: number
  readonly instructions?: Uint8Array | undefined
}

export type ExecutorProvider = ReturnType<typeof createProvider>

/**
 * Time for which all callers share a signed quote, ms. Sharing keeps strangers from causing many reads and signatures.
 */
const keptMs = 5_000
const failureKeptMs = 1_000

export function createProvider(options: ProviderOptions) {
  const { chains } = options
  const kept = new Map<string, () => ReturnType<typeof makeQuote>>()

  function chainOf(id: number, what: string): NumberedChain {
    const chain = chains.get(id)
    if (chain) return { ...chain, id }
    throw refused(`Unsupported ${what} chain: ${id}, supported chains: ${[...chains.keys()].join(',')}.`)
  }

  return {
    /** By Wormhole chain id of the target. */
    capabilities: () => new Map([...chains].map(([id, { caps, prefixes }]) => [id, { ...caps, requestPrefixes: prefixes }] as const)),
    /** Throws INPUT_INVALID for a request that would not be delivered, and the errors of the functions in `options`. */
    async quote({ source, target, instructions }: QuoteRequest): Promise<{ readonly signed: string; readonly cost?: bigint }> {
      const [from, to] = [chainOf(source, 'source'), chainOf(target, 'destination')]
      if (source === target) throw refused('The source and the destination are the same chain.')
      const wanted = instructions && decodeInstructions(instructions)
      if (instructions && !wanted) throw refused('The relay instructions cannot be read.')
      const excess = wanted && exceeded(wanted, to.caps)
      if (excess !== undefined) throw refused(`Not delivered: ${excess}.`)
      options.assertOpen(from.name, to.name)
      const pair = `${source} ${target}`
      const read = kept.get(pair) ?? keptRead(() => makeQuote(options, from, to), { fromAnswer: (one) => (one ? keptMs : failureKeptMs) })
      kept.set(pair, read)
      const { signed, quote } = await read()
      return { signed, ...(wanted && { cost: costOf(quote, wanted) }) }
    },
  }
}

type NumberedChain = ProviderChain & { readonly id: number }

async function makeQuote(options: ProviderOptions, from: NumberedChain, to: NumberedChain) {
  const { quoter, expirySeconds, marginPercent, sign, priceOf, gasPriceOf, dataFeeOf, now = Date.now } = options
  const [gasPrice, dataFee] = await Promise.all([gasPriceOf(to.name), dataFeeOf(to.name)])
  const prices = {
    sourcePrice: await priceOf(from.name, 'source'),
    // The margin raises this price and not the gas price, so that the coins of a delivery have a margin too.
    targetPrice: divideUp((await priceOf(to.name, 'target')) * BigInt(100 + marginPercent), 100n),
  }
  const quote = {
    ...{ quoter, payee: from.payee.slice(2).padStart(64, '0'), sourceChain: from.id, targetChain: to.id },
    ...{ gasPrice, ...prices },
    expiry: BigInt(Math.floor(now() / 1_000) + expirySeconds),
    baseFee: withDataFee(from.baseFee, dataFee, prices),
  }
  const bytes = encodeQuote(quote)
  return { quote, signed: concat([bytes, await sign(bytes)]) }
}

function refused(detail: string): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail })
}
