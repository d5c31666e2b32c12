/** What a transaction pays at most, per unit of gas: wei as decimal strings. Legacy gas price: both fields equal. */
export interface Fees {
  /** EIP-1559 maxFeePerGas, wei. */
  readonly maxFee: string
  /** EIP-1559 maxPriorityFeePerGas, wei. */
  readonly tip: string
}

/** The market as the chain tells it. `baseFee` in wei; absent on legacy chains. */
export interface FeeQuote extends Fees {
  readonly baseFee?: string
}

/** Nodes ask at least 10 % more on both fields for a replacement (go-ethereum PriceBump); 20 % leaves room for their rounding. */
const bumpPercent = 20n

/** Fees that replace every attempt in `previous`: 20 % (rounded up, at least 1 wei) above the highest of each field, or the market if that is more. */
export function bumpFees(previous: readonly Fees[], market: Fees): Fees {
  const maxFee = highest([market.maxFee, ...previous.map((fees) => raise(fees.maxFee))])
  const tip = highest([market.tip, ...previous.map((fees) => raise(fees.tip))])
  return { maxFee: String(maxFee < tip ? tip : maxFee), tip: String(tip) }
}

/** A raise goes no further than so many times what the market asks now and what was offered first (Optimism's txmgr, FeeLimitMultiplier: 5). */
const limitFactor = 5n

/**
 * True if what is offered for a nonce, the first before the last, is as dear as raises may make it. Without a limit a call that is stuck for
 * any other reason (its node passes it on to nobody, say) would offer twice as much every four raises, for ever.
 */
export function feeLimitReached(offered: readonly Fees[], market: Fees): boolean {
  const [first] = offered
  if (!first) return false
  const limit = limitFactor * highest([market.maxFee, first.maxFee])
  return highest(offered.map(({ maxFee }) => maxFee)) >= limit && highest(offered.map(({ tip }) => tip)) >= BigInt(market.tip)
}

/** The most that an attempt can cost in wei: gas limit × maxFee + value. */
export function worstCost(attempt: Fees & { readonly gasLimit: string; readonly value?: string }): bigint {
  return BigInt(attempt.gasLimit) * BigInt(attempt.maxFee) + BigInt(attempt.value ?? '0')
}

function raise(wei: string): bigint {
  const value = BigInt(wei)
  const raised = (value * (100n + bumpPercent) + 99n) / 100n
  return raised > value ? raised : value + 1n
}

function highest(values: readonly (string | bigint)[]): bigint {
  return values.map(BigInt).reduce((a, b) => (a > b ? a : b))
}
