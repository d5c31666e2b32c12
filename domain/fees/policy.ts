import type { ChainName } from '../transfer/transfer.ts'

/** Limits for what a transaction may cost. Each field comes from the most specific rule that sets it. */
export interface FeePolicy {
  /** Most that a unit of gas may cost, wei, decimal (EIP-1559 maxFeePerGas, or the legacy gas price). */
  readonly maxFeePerGas?: string | undefined
  /** Most of that for the block builder, wei, decimal (maxPriorityFeePerGas). */
  readonly maxTip?: string | undefined
  /** Most that a whole transaction may cost, wei, decimal: with the data fee of an L2, without the value. */
  readonly maxFeePerTransaction?: string | undefined
  /** No new call is sent above this base fee (wei, decimal). Transfers wait without a nonce. */
  readonly baseFeeCeiling?: string | undefined
  /** The gas limit is the estimate times this. */
  readonly gasFactor?: number | undefined
  /** Most gas units of a transaction, decimal. A call that needs more is not sent. */
  readonly gasLimit?: string | undefined
}

/** Where a rule applies, from the most specific to the least. */
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

/** The known facts of a transaction that rules match. Hex in any case. */
export interface FeeSubject {
  readonly chain: ChainName
  /** Workflow id. */
  readonly transfer?: string | undefined
  readonly lane?: string | undefined
  readonly contract?: string | undefined
  /** First four bytes of the call data, 0x. */
  readonly selector?: string | undefined
  /** How many transfers the call delivers; absent: one. */
  readonly deliveries?: number | undefined
}

export type FeePolicyResolver = (about: FeeSubject) => FeePolicy

/** Takes each field from the most specific scope that sets it. Of equal scopes the later rule wins. */
export function resolveFees(rules: readonly FeeRule[], about: FeeSubject): FeePolicy {
  const matching = rules.flatMap(({ scope, policy }) => {
    const rank = specificity(scope, about)
    return rank === undefined ? [] : [{ rank, policy }]
  })
  // The sort is stable.
  const least = matching.sort((a, b) => a.rank - b.rank).map(({ policy }) => set(policy))
  return Object.assign({}, ...least) as FeePolicy
}

/** First four bytes of the call data. Undefined for a plain payment. */
export function selectorOf(data: string): string | undefined {
  return data.length >= 10 ? data.slice(0, 10).toLowerCase() : undefined
}

/** From 0 (everything) to 5 (one transfer). Undefined: the rule does not match. */
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

function set(policy: FeePolicy): FeePolicy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined))
}
