import type { FeePolicy } from './policy.ts'

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
  /** Most that a unit of gas may cost where no policy sets `maxFeePerGas`, wei: follows from what is usual on this chain. Absent: no such cap. */
  readonly cap?: string
}

/** Most gas that a no-op is signed with. No chain asks for more to move nothing. */
export const mostNoopGas = 5_000_000n

/** Nodes ask at least 10 % more on both fields for a replacement (go-ethereum PriceBump); 20 % leaves room for their rounding. */
const bumpPercent = 20n

/** What a call costs beside its fee: gas units and wei, decimal. `dataFee`: of an L2, beside the gas; absent: 0. */
export interface CallCost {
  readonly gasLimit: string
  readonly dataFee?: string | undefined
}

/** `wait`: fees may fall, and nothing holds a nonce meanwhile. `impossible`: the policy never lets this call be sent. */
export type Offer =
  | ({ readonly kind: 'offer' } & Fees)
  | { readonly kind: 'wait'; readonly code: 'FEE_CEILING' | 'FEE_LIMIT'; readonly reason: string }
  | { readonly kind: 'impossible'; readonly code: 'GAS_LIMIT'; readonly reason: string }

/** The market's fees, lowered to the caps of the policy, if the next block can take the call at that. A legacy gas price counts as base fee for the ceiling. */
export function firstOffer(market: FeeQuote, policy: FeePolicy, cost: CallCost): Offer {
  const { gasLimit, baseFeeCeiling } = policy
  if (gasLimit !== undefined && BigInt(cost.gasLimit) > BigInt(gasLimit)) {
    return { kind: 'impossible', code: 'GAS_LIMIT', reason: `the call needs ${cost.gasLimit} gas, allowed are ${gasLimit}` }
  }
  const legacy = market.baseFee === undefined
  const base = market.baseFee ?? market.maxFee
  if (baseFeeCeiling !== undefined && BigInt(base) > BigInt(baseFeeCeiling)) {
    return { kind: 'wait', code: 'FEE_CEILING', reason: `the base fee is ${base} wei, the ceiling ${baseFeeCeiling} wei` }
  }
  const cap = least(capOf(policy, cost), defaultCap(market, policy))
  const tip = legacy ? BigInt(market.tip) : least(BigInt(market.tip), capFrom(policy.maxTip))
  const needed = legacy ? tip : BigInt(base) + tip
  if (cap < needed) {
    return {
      kind: 'wait',
      code: 'FEE_LIMIT',
      reason: `a unit of gas costs ${needed} wei now, the policy allows ${cap} wei for this call${isDefault(market, policy) ? ' (the default cap: maxFeePerGas is not set)' : ''}`,
    }
  }
  return { kind: 'offer', maxFee: String(least(BigInt(market.maxFee), cap)), tip: String(tip) }
}

/** What a further attempt must be like. */
export interface Raising extends CallCost {
  readonly kind: 'call' | 'noop'
  readonly policy: FeePolicy
  /** An operator, or the lane, needs it now: only the policy's caps hold, not the limit of raises. */
  readonly urgent?: boolean | undefined
  /** An operator's own fees: at least these, without the policy's caps. An absent field is left to the market. */
  readonly atLeast?: Partial<Fees> | undefined
  /** The nodes refuse our dearest attempt as too cheap a replacement: a pool holds a dearer transaction that we do not know. */
  readonly outpriced?: boolean | undefined
  /** Of the account, wei, decimal: what it cannot pay is not offered. Used only when `outpriced`. */
  readonly balance?: string | undefined
  /** What the call moves, wei, decimal. */
  readonly value?: string | undefined
}

/**
 * Fees of the next attempt for a nonce: at least 20 % above every earlier one on both fields, or the market if that is more. Undefined: the last
 * attempt is as dear as it may be, and is sent again. A no-op starts at the caps of its policy but may pass them as far as it must to outbid the
 * earlier attempts: it costs 21,000 gas, and a gap in the lane blocks every nonce above.
 * @param offered all attempts for the nonce that a pool may hold, the first before the last
 */
export function nextOffer(offered: readonly Fees[], market: FeeQuote, raising: Raising): Fees | undefined {
  const { kind, policy, urgent, atLeast } = raising
  const set = capOf(policy, raising)
  const cap = least(set, defaultCap(market, policy))
  const tipCap = market.baseFee === undefined ? cap : least(capFrom(policy.maxTip), cap)
  const allowed = { maxFee: String(least(BigInt(market.maxFee), cap)), tip: String(least(BigInt(market.tip), tipCap)) }
  const fees = bumpFees(offered, { maxFee: atLeast?.maxFee ?? allowed.maxFee, tip: atLeast?.tip ?? allowed.tip })
  if (atLeast?.maxFee !== undefined || atLeast?.tip !== undefined) return fees
  if (kind === 'call' && (BigInt(fees.maxFee) > cap || BigInt(fees.tip) > tipCap)) return undefined
  const limited = feeLimitReached(offered, market)
  if (raising.outpriced && limited) return beyondLimit(fees, market, raising, { isCapped: set < uncapped, tipCap })
  if (urgent || (kind === 'call' && set < uncapped)) return fees
  return limited ? undefined : fees
}

/**
 * Against a transaction from outside Portage at our nonce: 20 % more, and twice the tip, since against one with a legacy gas price (both its fields
 * are that price) the tip falls short. A no-op goes on as far as the balance pays for it. A call without a cap ends where its tip alone is at the
 * limit: a dearer transaction would be in a block by itself, and one that is in no block has no higher price than the base fee.
 */
function beyondLimit(
  fees: Fees,
  market: Fees,
  { kind, balance, ...cost }: Raising,
  { isCapped, tipCap }: { isCapped: boolean; tipCap: bigint },
): Fees | undefined {
  const [maxFee, raised] = [BigInt(fees.maxFee), BigInt(fees.tip)]
  const twice = least(raised * 2n, kind === 'call' ? least(tipCap, maxFee) : maxFee)
  const offer = { maxFee: fees.maxFee, tip: String(twice > raised ? twice : raised) }
  if (kind === 'call' && !isCapped && raised > limitFactor * BigInt(market.maxFee)) return undefined
  return balance !== undefined && worstCost({ ...cost, ...offer }) > BigInt(balance) ? undefined : offer
}

/** Fees that replace every attempt in `previous`: 20 % (rounded up, at least 1 wei) above the highest of each field, or the market if that is more. */
export function bumpFees(previous: readonly Fees[], market: Fees): Fees {
  const maxFee = highest([market.maxFee, ...previous.map((fees) => raise(fees.maxFee))])
  const tip = highest([market.tip, ...previous.map((fees) => raise(fees.tip))])
  return { maxFee: String(maxFee < tip ? tip : maxFee), tip: String(tip) }
}

/** Raises end at so many times the market or the first offer, whichever is more (Optimism's txmgr, FeeLimitMultiplier: 5). */
const limitFactor = 5n

/** Whether the attempts for a nonce, in order, are as dear as raises may make them: one that is stuck for another reason must not double its fee for ever. */
export function feeLimitReached(offered: readonly Fees[], market: Fees): boolean {
  const [first] = offered
  if (!first) return false
  const limit = limitFactor * highest([market.maxFee, first.maxFee])
  return highest(offered.map(({ maxFee }) => maxFee)) >= limit && highest(offered.map(({ tip }) => tip)) >= BigInt(market.tip)
}

/** True if no block of this base fee (wei, decimal) can take any of these. */
export function pricedOut(offered: readonly Fees[], baseFee: string | undefined): boolean {
  return baseFee !== undefined && offered.every(({ maxFee }) => BigInt(maxFee) < BigInt(baseFee))
}

/** The most that an attempt can cost, wei: gas limit × maxFee, the chain's charge for its data, and the value. */
export function worstCost(attempt: Fees & CallCost & { readonly value?: string }): bigint {
  return BigInt(attempt.gasLimit) * BigInt(attempt.maxFee) + BigInt(attempt.dataFee ?? '0') + BigInt(attempt.value ?? '0')
}

/** What a call costs if it is mined at the market of now, wei: its whole gas limit at base fee and tip, and the chain's charge for its data. */
export function costNow({ gasLimit, dataFee }: CallCost, { baseFee, tip, maxFee }: FeeQuote): bigint {
  const perGas = baseFee === undefined ? BigInt(maxFee) : BigInt(baseFee) + BigInt(tip)
  return BigInt(gasLimit) * perGas + BigInt(dataFee ?? '0')
}

/** What a mined transaction has paid, wei, decimal. */
export function gasPaid({ gasUsed, effectiveGasPrice }: { readonly gasUsed: string; readonly effectiveGasPrice: string }): string {
  return String(BigInt(gasUsed) * BigInt(effectiveGasPrice))
}

/** More than any fee of at most 78 digits. */
const uncapped = 10n ** 78n

/** The cap that holds where the policy sets none. */
function defaultCap({ cap }: FeeQuote, { maxFeePerGas }: FeePolicy): bigint {
  return maxFeePerGas === undefined ? capFrom(cap) : uncapped
}

function isDefault(market: FeeQuote, policy: FeePolicy): boolean {
  return market.cap !== undefined && policy.maxFeePerGas === undefined
}

/** Most that a unit of gas of this call may cost, wei. */
function capOf({ maxFeePerGas, maxFeePerTransaction }: FeePolicy, { gasLimit, dataFee }: CallCost): bigint {
  if (maxFeePerTransaction === undefined) return capFrom(maxFeePerGas)
  const rest = BigInt(maxFeePerTransaction) - BigInt(dataFee ?? '0')
  const perGas = rest > 0n ? rest / (BigInt(gasLimit) || 1n) : 0n
  return least(perGas, capFrom(maxFeePerGas))
}

function raise(wei: string): bigint {
  const value = BigInt(wei)
  const raised = (value * (100n + bumpPercent) + 99n) / 100n
  return raised > value ? raised : value + 1n
}

function highest(values: readonly (string | bigint)[]): bigint {
  return values.map(BigInt).reduce((a, b) => (a > b ? a : b))
}

function capFrom(wei: string | undefined): bigint {
  return wei === undefined ? uncapped : BigInt(wei)
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
