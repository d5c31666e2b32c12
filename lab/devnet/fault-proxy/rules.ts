import type { LieKind } from './lies.ts'

/** What a node does wrong. What concerns a whole HTTP request strikes it when any call in it matches the rule; the rest strikes single calls. */
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
  /** A call: answered as of so many blocks ago. With a probability below 1 from one request to the next (a stale cache), else always (a lag). */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** The answers of a batch: one is left out, one comes twice, they come in another order. */
  | { readonly kind: 'batch'; readonly how: 'drop' | 'duplicate' | 'reorder' }
  /** A receipt: not there, with the other status, or of another block. */
  | { readonly kind: 'receipt'; readonly lie: 'null' | 'status' | 'block' }
  /** A call: answered with this, whatever the truth. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /** Logs: the first is left out, or all are of blocks that are in no chain and tell of other amounts. Strikes only where there are some. */
  | { readonly kind: 'logs'; readonly how: 'one-less' | 'forked' }
  /** Logs of more blocks than this: refused, as nodes that limit ranges do. */
  | { readonly kind: 'log-range'; readonly blocks: number; readonly code: number; readonly message: string }
  /** The tags `finalized` and `safe` stand still: so many blocks below where they are. The head does not. */
  | { readonly kind: 'finality-behind'; readonly blocks: number }
  /** A transaction: its hash is answered, and it is not passed on. */
  | { readonly kind: 'swallow' }
  /** A call: answered with what harms (lies.ts). */
  | { readonly kind: 'lie'; readonly how: LieKind }
  /** The whole request: answered with so many MiB of blanks and no end, compressed; or sent on to another host, which the node names. */
  | { readonly kind: 'flood'; readonly mebibytes: number }
  | { readonly kind: 'redirect'; readonly to: string }

/** When a fault strikes. */
export interface FaultRule {
  readonly fault: NodeFault
  /** Only these JSON-RPC methods, or `eth_call 0x…` with the selector of what is called; absent: every one. */
  readonly methods?: readonly string[]
  /** Of each request or call that matches, 0 to 1. Default 1. */
  readonly probability?: number
  /** Ends by itself after so many strikes. */
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

  /** The first fault of these kinds that strikes now, for a request or a call with these methods. One that does not apply strikes nothing. */
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
