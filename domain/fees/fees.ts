import type { ChainName, Terms } from '../transfer/transfer.ts'
import { defined } from '../defined.ts'
import { forms, isOf } from '../text/forms.ts'

/** EIP-1559's maxFeePerGas and maxPriorityFeePerGas, decimal wei. On legacy chains, both are the gas price. */
export interface Fees {
  readonly maxFee: string
  readonly tip: string
}

/** `baseFee` is decimal wei, and absent on legacy chains. */
export interface FeeQuote extends Fees {
  readonly baseFee?: string
  /** Limit of an attempt's maxFee if the policy has no `maxFeePerGas`, decimal wei per gas. */
  readonly cap?: string
}

export const mostNoopGas = 5_000_000n

/** Default raise. go-ethereum accepts a replacement only if its fees are at least 10 percent higher (PriceBump). */
const defaultBumpPercent = 20

/** Decimal. `dataFee` is an L2's charge for the calldata, wei. Absent: 0. */
export interface CallCost {
  readonly gasLimit: string
  readonly dataFee?: string | undefined
}

export const feeLimits = ['submission', 'transaction', 'gas'] as const
/** The limit that holds a call up with FEE_LIMIT: that of its submission, `maxFeePerTransaction` or `maxFeePerGas`. */
export type FeeLimit = (typeof feeLimits)[number]

/** `wait`: the call gets no nonce until fees fall. `impossible`: the policy forbids the call. */
export type Offer =
  | ({ readonly kind: 'offer' } & Fees)
  | { readonly kind: 'wait'; readonly code: 'FEE_CEILING' | 'FEE_LIMIT'; readonly reason: string; readonly feeLimit?: FeeLimit }
  | { readonly kind: 'impossible'; readonly code: 'GAS_LIMIT'; readonly reason: string }

/** Multiplies the quote's tip by `tipFactor`. On legacy chains, the tip is the whole gas price. */
export function marketFor(quote: FeeQuote, { tipFactor = 1 }: FeePolicy): FeeQuote {
  const tip = (BigInt(quote.tip) * BigInt(Math.round(tipFactor * 100)) + 99n) / 100n
  return { ...quote, maxFee: String(BigInt(quote.maxFee) - BigInt(quote.tip) + tip), tip: String(tip) }
}

/**
 * Fees of a call's first attempt, or the reason why the call gets none. On legacy chains, `baseFeeCeiling` limits the
 * gas price.
 */
export function firstOffer(market: FeeQuote, policy: CallPolicy, cost: CallCost): Offer {
  const { gasLimit, baseFeeCeiling } = policy
  if (gasLimit !== undefined && BigInt(cost.gasLimit) > BigInt(gasLimit)) {
    return { kind: 'impossible', code: 'GAS_LIMIT', reason: `the call needs ${cost.gasLimit} gas, allowed are ${gasLimit}` }
  }
  const legacy = market.baseFee === undefined
  const base = market.baseFee ?? market.maxFee
  if (baseFeeCeiling !== undefined && BigInt(base) > BigInt(baseFeeCeiling)) {
    return { kind: 'wait', code: 'FEE_CEILING', reason: `the base fee is ${base} wei, the ceiling ${baseFeeCeiling} wei` }
  }
  const terms = termsCap(policy, cost)
  const configured = least(capOf(policy, cost), defaultCap(market, policy))
  const cap = least(configured, terms)
  const tip = legacy ? BigInt(market.tip) : least(BigInt(market.tip), capFrom(policy.maxTip))
  const needed = legacy ? tip : BigInt(base) + tip
  // A submission's limit must leave room for a raise. Without this room, each rise of the base fee would cost a no-op.
  const wanted = terms < configured ? raise(String(needed), policy.bumpPercent ?? defaultBumpPercent) : needed
  if (cap < wanted) {
    const room = wanted > needed ? ` (${wanted} wei with room for a raise)` : ''
    const feeLimit = terms < configured ? 'submission' : limitOf(policy, cost, configured)
    const reason = `a unit of gas costs ${needed} wei now${room}, the policy allows ${cap} wei for this call (by ${limitText(feeLimit, policy)})`
    return { kind: 'wait', code: 'FEE_LIMIT', reason, feeLimit }
  }
  return { kind: 'offer', maxFee: String(least(BigInt(market.maxFee), cap)), tip: String(tip) }
}

export interface Raising extends CallCost {
  readonly kind: 'call' | 'noop'
  readonly policy: CallPolicy
  /** If true, `feeLimitReached` does not end the raises. The policy's caps still apply to calls. */
  readonly urgent?: boolean | undefined
  /** Fees that an operator ordered, which may be above the policy's caps. An absent fee follows the market. */
  readonly atLeast?: Partial<Fees> | undefined
  /**
   * True if the nodes refuse every attempt, because a transaction from outside Portage has this nonce and a higher fee.
   */
  readonly outpriced?: boolean | undefined
  /** Balance of the account, decimal wei. An `outpriced` attempt must not cost more. */
  readonly balance?: string | undefined
  readonly value?: string | undefined
}

/**
 * Fees of the next attempt. Undefined if a limit is reached. No-ops may exceed the caps, because an unused nonce blocks
 * higher nonces.
 * @param offered fees of all attempts for the nonce that a pool may hold, oldest first
 */
export function nextOffer(offered: readonly Fees[], market: FeeQuote, raising: Raising): Fees | undefined {
  const { kind, policy, urgent, atLeast } = raising
  const set = capOf(policy, raising)
  const cap = least(least(set, defaultCap(market, policy)), termsCap(policy, raising))
  const tipCap = market.baseFee === undefined ? cap : least(capFrom(policy.maxTip), cap)
  const allowed = { maxFee: String(least(BigInt(market.maxFee), cap)), tip: String(least(BigInt(market.tip), tipCap)) }
  const fees = bumpFees(offered, { maxFee: atLeast?.maxFee ?? allowed.maxFee, tip: atLeast?.tip ?? allowed.tip }, policy.bumpPercent)
  if (atLeast?.maxFee !== undefined || atLeast?.tip !== undefined) return fees
  if (kind === 'call' && (BigInt(fees.maxFee) > cap || BigInt(fees.tip) > tipCap)) return undefined
  const limited = feeLimitReached(offered, market)
  if (raising.outpriced && limited) return beyondLimit(fees, market, { ...raising, isCapped: set < uncapped, tipCap })
  if (urgent || (kind === 'call' && set < uncapped)) return fees
  return limited ? undefined : fees
}

/**
 * Doubles the tip up to `maxFee`, to outbid a transaction from outside Portage. `limitFactor` ends the raises of a call
 * without a cap.
 */
function beyondLimit(fees: Fees, market: Fees, raising: Raising & { isCapped: boolean; tipCap: bigint }): Fees | undefined {
  const { kind, balance, isCapped, tipCap, ...cost } = raising
  const [maxFee, raised] = [BigInt(fees.maxFee), BigInt(fees.tip)]
  const twice = least(raised * 2n, kind === 'call' ? least(tipCap, maxFee) : maxFee)
  const offer = { maxFee: fees.maxFee, tip: String(twice > raised ? twice : raised) }
  if (kind === 'call' && !isCapped && raised > limitFactor * BigInt(market.maxFee)) return undefined
  return balance !== undefined && worstCost({ ...cost, ...offer }) > BigInt(balance) ? undefined : offer
}

export function bumpFees(previous: readonly Fees[], market: Fees, percent = defaultBumpPercent): Fees {
  const maxFee = highest([market.maxFee, ...previous.map((fees) => raise(fees.maxFee, percent))])
  const tip = highest([market.tip, ...previous.map((fees) => raise(fees.tip, percent))])
  return { maxFee: String(maxFee < tip ? tip : maxFee), tip: String(tip) }
}

/**
 * Raises end at this multiple of the market's fee or of the first attempt's fee, whichever is higher (Optimism's
 * txmgr).
 */
const limitFactor = 5n

/**
 * Whether raises must end. Without a limit, the fees of a nonce that is stuck for another reason would rise without
 * end.
 */
export function feeLimitReached(offered: readonly Fees[], market: Fees): boolean {
  const [first] = offered
  if (!first) return false
  const limit = limitFactor * highest([market.maxFee, first.maxFee])
  return highest(offered.map(({ maxFee }) => maxFee)) >= limit && highest(offered.map(({ tip }) => tip)) >= BigInt(market.tip)
}

export function pricedOut(offered: readonly Fees[], baseFee: string | undefined): boolean {
  return baseFee !== undefined && offered.every(({ maxFee }) => BigInt(maxFee) < BigInt(baseFee))
}

export function worstCost(attempt: Fees & CallCost & { readonly value?: string }): bigint {
  return BigInt(attempt.gasLimit) * BigInt(attempt.maxFee) + BigInt(attempt.dataFee ?? '0') + BigInt(attempt.value ?? '0')
}

export function costNow({ gasLimit, dataFee }: CallCost, { baseFee, tip, maxFee }: FeeQuote): bigint {
  const perGas = baseFee === undefined ? BigInt(maxFee) : BigInt(baseFee) + BigInt(tip)
  return BigInt(gasLimit) * perGas + BigInt(dataFee ?? '0')
}

export function gasPaid({ gasUsed, effectiveGasPrice }: { readonly gasUsed: string; readonly effectiveGasPrice: string }): string {
  return String(BigInt(gasUsed) * BigInt(effectiveGasPrice))
}

const uncapped = 10n ** 78n

function defaultCap({ cap }: FeeQuote, { maxFeePerGas }: FeePolicy): bigint {
  return maxFeePerGas === undefined ? capFrom(cap) : uncapped
}

function limitOf({ maxFeePerGas, maxFeePerTransaction }: FeePolicy, cost: CallCost, cap: bigint): FeeLimit {
  const isLower = maxFeePerTransaction !== undefined && cap < capFrom(maxFeePerGas)
  return isLower && cap === capOf({ maxFeePerTransaction }, cost) ? 'transaction' : 'gas'
}

function limitText(limit: FeeLimit, { maxFeePerGas, maxFeePerTransaction }: FeePolicy): string {
  if (limit === 'submission') return 'its submission'
  if (limit === 'transaction') return `maxFeePerTransaction: ${maxFeePerTransaction} wei`
  return maxFeePerGas === undefined ? 'the default cap, because maxFeePerGas is not set' : `maxFeePerGas: ${maxFeePerGas} wei`
}

function capOf({ maxFeePerGas, maxFeePerTransaction }: FeePolicy, { gasLimit, dataFee }: CallCost): bigint {
  if (maxFeePerTransaction === undefined) return capFrom(maxFeePerGas)
  const rest = BigInt(maxFeePerTransaction) - BigInt(dataFee ?? '0')
  const perGas = rest > 0n ? rest / (BigInt(gasLimit) || 1n) : 0n
  return least(perGas, capFrom(maxFeePerGas))
}

/** The cap that the submission set. Malformed limits are ignored, because an input may be forged. */
function termsCap({ terms = {} }: CallPolicy, cost: CallCost): bigint {
  const limit = (wei: unknown) => (typeof wei === 'string' && isOf(forms.decimal, wei) ? wei : undefined)
  return capOf({ maxFeePerGas: limit(terms.maxFeePerGas), maxFeePerTransaction: limit(terms.maxFeePerTransaction) }, cost)
}

function raise(wei: string, percent: number): bigint {
  const value = BigInt(wei)
  const raised = (value * BigInt(100 + percent) + 99n) / 100n
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

/** Wei and gas are decimal. */
export interface FeePolicy {
  /** Maximum wei per gas: EIP-1559's maxFeePerGas, or the legacy gas price. */
  readonly maxFeePerGas?: string | undefined
  /** Maximum tip, wei per gas: EIP-1559's maxPriorityFeePerGas. */
  readonly maxTip?: string | undefined
  /** Factor by which the market's tip is multiplied, with two decimals (venus-messager: gasOverPremium). Default: 1. */
  readonly tipFactor?: number | undefined
  /** Percentage by which each attempt raises both fees. Default: 20. */
  readonly bumpPercent?: number | undefined
  /** Maximum wei for a whole transaction, including an L2's data fee, excluding the value. */
  readonly maxFeePerTransaction?: string | undefined
  /** While the base fee (wei) is above this ceiling, the lane sends no new call, and transfers wait without a nonce. */
  readonly baseFeeCeiling?: string | undefined
  readonly gasFactor?: number | undefined
  readonly gasLimit?: string | undefined
}

/** Scopes of fee rules, the most specific first. */
export type FeeScope =
  | { readonly kind: 'transfer'; readonly id: string }
  | { readonly kind: 'lane'; readonly lane: string }
  | { readonly kind: 'call'; readonly chain: ChainName; readonly contract: string; readonly selector?: string | undefined }
  | { readonly kind: 'chain'; readonly chain: ChainName }
  | { readonly kind: 'global' }

export interface FeeRule {
  readonly scope: FeeScope
  readonly policy: FeePolicy
}

export interface FeeSubject {
  readonly chain: ChainName
  readonly transfer?: string | undefined
  readonly lane?: string | undefined
  readonly contract?: string | undefined
  readonly selector?: string | undefined
  readonly deliveries?: number | undefined
  readonly terms?: Terms | undefined
}

/** `terms` only add limits to those of the policy, so a submission cannot raise a limit. */
export type CallPolicy = FeePolicy & Pick<FeeSubject, 'terms'>

export type FeePolicyResolver = (about: FeeSubject) => CallPolicy

export interface FeeDefaults {
  readonly rules: readonly FeeRule[]
  /** Maximum gas of one delivery on a chain whose factor in `gasFactors` is 1 or absent. */
  readonly maxGas: number
  readonly gasFactors: ReadonlyMap<ChainName, number>
}

/**
 * Returns a function that resolves the fee policy of a call. For the same scope, a rule of the settings overrides the
 * config's rule. Each policy has a gas limit, because a stranger's token may burn gas.
 */
export function createFeePolicyResolver(defaults: FeeDefaults, settings: () => { readonly fees: readonly FeeRule[] }): FeePolicyResolver {
  const { rules, maxGas, gasFactors } = defaults
  return (about) => {
    const gasLimit = String(maxGas * (gasFactors.get(about.chain) ?? 1) * (about.deliveries ?? 1))
    return { gasLimit, ...resolveFees([...rules, ...settings().fees], about), ...(about.terms && { terms: about.terms }) }
  }
}

/**
 * Merges the policies of all rules that match. A more specific scope overrides each field that it sets. Among rules of
 * the same scope, the last wins.
 */
export function resolveFees(rules: readonly FeeRule[], about: FeeSubject): FeePolicy {
  const matching = rules.flatMap(({ scope, policy }) => {
    const rank = specificity(scope, about)
    return rank === undefined ? [] : [{ rank, policy }]
  })
  const least = matching.sort((a, b) => a.rank - b.rank).map(({ policy }) => defined(policy))
  return Object.assign({}, ...least) as FeePolicy
}

export function selectorOf(data: string): string | undefined {
  return data.length >= 10 ? data.slice(0, 10).toLowerCase() : undefined
}

function specificity(scope: FeeScope, about: FeeSubject): number | undefined {
  switch (scope.kind) {
    case 'global':
      return 0
    case 'chain':
      return scope.chain === about.chain ? 1 : undefined
    case 'call': {
      if (scope.chain !== about.chain || !sameHex(scope.contract, about.contract)) return undefined
      if (scope.selector === undefined) return 2
      return sameHex(scope.selector, about.selector) ? 3 : undefined
    }
    case 'lane':
      return sameHex(scope.lane, about.lane) ? 4 : undefined
    case 'transfer':
      return scope.id === about.transfer ? 5 : undefined
  }
}

function sameHex(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase()
}
