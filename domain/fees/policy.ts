import type { ChainName } from '../transfer/transfer.ts'

/** What may be spent on a transaction. Every field is optional; each is decided by itself, by the most specific rule that sets it. */
export interface FeePolicy {
  /** Most that a unit of gas may cost, wei, decimal (EIP-1559 maxFeePerGas, or the legacy gas price). */
  readonly maxFeePerGas?: string | undefined
  /** Most of that for the block's builder, wei, decimal (maxPriorityFeePerGas). */
  readonly maxTip?: string | undefined
  /** Most that a whole transaction may cost, data fee of an L2 included, value not, wei, decimal. */
  readonly maxFeePerTransaction?: string | undefined
  /** Above this base fee (wei, decimal) nothing new is sent: transfers wait, and hold no nonce. */
  readonly baseFeeCeiling?: string | undefined
  /** The gas limit is the estimate times this. */
  readonly gasFactor?: number | undefined
  /** Most gas units of a transaction, decimal. A call that needs more is not sent. */
  readonly gasLimit?: string | undefined
}

/** Where a rule applies, from the most specific to the least: a transfer, a lane (its id), a function of a contract, a contract, a chain, everything. */
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

/** The facts about a transaction that rules match, as far as they are known: its owner, its lane, its call. Hex in any case. */
export interface FeeSubject {
  readonly chain: ChainName
  /** Workflow id. */
  readonly transfer?: string | undefined
  readonly lane?: string | undefined
  readonly contract?: string | undefined
  /** The first four bytes of the call's data, 0x. */
  readonly selector?: string | undefined
  /** How many transfers the call delivers; absent: one. */
  readonly deliveries?: number | undefined
}

/** The policy for a transaction, by the rules as they are now: those of the config, and the changes of operators. */
export type FeePolicyResolver = (about: FeeSubject) => FeePolicy

/** Every field by the most specific scope that sets it; of two rules of the same scope the later one wins, so that live rules go behind those of the config. */
export function resolveFees(rules: readonly FeeRule[], about: FeeSubject): FeePolicy {
  const matching = rules.flatMap(({ scope, policy }) => {
    const rank = specificity(scope, about)
    return rank === undefined ? [] : [{ rank, policy }]
  })
  // Stable: rules of one scope stay in their order.
  const least = matching.sort((a, b) => a.rank - b.rank).map(({ policy }) => set(policy))
  return Object.assign({}, ...least) as FeePolicy
}

/** The first four bytes of a call's data; undefined for a plain payment. */
export function selectorOf(data: string): string | undefined {
  return data.length >= 10 ? data.slice(0, 10).toLowerCase() : undefined
}

/** 0 (everything) … 5 (one transfer); undefined: the rule is about something else. */
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
