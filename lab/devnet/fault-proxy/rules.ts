import type { LieKind } from './lies.ts'

/**
 * Faults of a node. A fault of a whole HTTP request hits if any call in it matches the rule; the others hit single
 * calls.
 */
export type NodeFault =
  /** The whole request: never looked at, never answered. */
  | { readonly kind: 'hang' }
  /** The whole request: done, never answered. A transaction in it is in the pool. */
  | { readonly kind: 'accept-and-hang' }
  /** The whole request: the connection is cut before anything is looked at. */
  | { readonly kind: 'cut' }
  /** The whole request: a page of a gateway. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** A call: answered with an error, after it was done (`forward`) or instead of it. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly forward: boolean }
  /**
   * A call: answered as of this number of blocks ago. With a probability below 1 it varies by request (a stale cache),
   * else it is constant (a lag).
   */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** The answers of a batch: one is left out, one comes twice, they come in another order. */
  | { readonly kind: 'batch'; readonly how: 'drop' | 'duplicate' | 'reorder' }
  /** A receipt: not there, with the other status, or of another block. */
  | { readonly kind: 'receipt'; readonly lie: 'null' | 'status' | 'block' }
  /** A call: answered with this, whatever the truth. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /**
   * Logs: the first is left out, or all have blocks outside the chain and other amounts. Hits only if there are logs.
   */
  | { readonly kind: 'logs'; readonly how: 'one-less' | 'forked' }
  /** Logs of more blocks than this: refused, as nodes that limit ranges do. */
  | { readonly kind: 'log-range'; readonly blocks: number; readonly code: number; readonly message: string }
  /** The tags `finalized` and `safe` stay this number of blocks below their real height. The head does not. */
  | { readonly kind: 'finality-behind'; readonly blocks: number }
  /** A transaction: its hash is answered, and it is not passed on. */
  | { readonly kind: 'swallow' }
  /** A call: answered with what harms (lies.ts). Hits only answers that its kind has a lie for. */
  | { readonly kind: 'lie'; readonly how: LieKind }
  /**
   * The whole request: answered with this number of MiB of blanks, compressed and without an end; or redirected to
   * another host, which the node names.
   */
  | { readonly kind: 'flood'; readonly mebibytes: number }
  | { readonly kind: 'redirect'; readonly to: string }

/** When a fault strikes. */
export interface FaultRule {
  readonly fault: NodeFault
  /** Only these JSON-RPC methods, or `eth_call 0x…` with the selector of what is called; absent: every one. */
  readonly methods?: readonly string[]
  /** Of each request or call that matches, 0 to 1. Default 1. */
  readonly probability?: number
  /** Ends by itself after this number of hits. */
  readonly times?: number
  /** Where chance comes from, 0 to below 1. Default: Math.random. */
  readonly random?: () => number
}

/** A rule at work. */
export interface ActiveRule {
  /** How often it has struck. */
  readonly strikes: number
  end(): void
}

/** The rules of one proxy. */
export class FaultRules {
  readonly #rules = new Set<FaultRule & { strikes: number }>()

  add(rule: FaultRule): ActiveRule {
    const own = { ...rule, strikes: 0 }
    this.#rules.add(own)
    return {
      get strikes() {
        return own.strikes
      },
      end: () => void this.#rules.delete(own),
    }
  }

  clear(): void {
    this.#rules.clear()
  }

  /**
   * The first fault of these kinds that hits now, for a request or a call with these methods. A fault that does not
   * apply counts no hit.
   */
  strike<K extends NodeFault['kind']>(
    kinds: readonly K[],
    methods: readonly string[],
    applies: (fault: Extract<NodeFault, { kind: K }>) => boolean = () => true,
  ): Extract<NodeFault, { kind: K }> | undefined {
    for (const rule of this.#rules) {
      if (!(kinds as readonly string[]).includes(rule.fault.kind)) continue
      if (rule.methods && !methods.some((method) => rule.methods?.includes(method))) continue
      if (!applies(rule.fault as Extract<NodeFault, { kind: K }>)) continue
      if ((rule.random ?? Math.random)() >= (rule.probability ?? 1)) continue
      rule.strikes += 1
      if (rule.times !== undefined && rule.strikes >= rule.times) this.#rules.delete(rule)
      return rule.fault as Extract<NodeFault, { kind: K }>
    }
    return undefined
  }
}
