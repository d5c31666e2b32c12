import type { LieKind } from './lies.ts'

/**
 * Faults of a node. "Request" faults concern a whole HTTP request, and strike if any call in it matches the rule. All
 * others concern single calls.
 */
export type NodeFault =
  /** Request: the node never gets it, and the client gets no answer. */
  | { readonly kind: 'hang' }
  /** Request: the node executes it, but the client gets no answer. A transaction in it reaches the pool. */
  | { readonly kind: 'accept-and-hang' }
  /** Request: the connection is cut before the node gets it. */
  | { readonly kind: 'cut' }
  /** Request: the answer is a gateway's page with this status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Call: the answer is an error. With `forward`, the node executes the call nevertheless. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly forward: boolean }
  /**
   * Call: the answer is the state of this number of blocks ago. With a probability below 1, some requests get the old
   * state and others do not (a stale cache). With probability 1 the lag is constant.
   */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Batch: one answer is missing, one comes twice, or they come in another order. */
  | { readonly kind: 'batch'; readonly how: 'drop' | 'duplicate' | 'reorder' }
  /** Receipt: it is missing, has the opposite status, or names another block. */
  | { readonly kind: 'receipt'; readonly lie: 'null' | 'status' | 'block' }
  /** Call: the answer is this value. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /** Logs: the first is missing, or all have foreign blocks and other amounts. Strikes only if there are logs. */
  | { readonly kind: 'logs'; readonly how: 'one-less' | 'forked' }
  /** Logs: a range of more blocks than this is refused, as nodes with a limit do. */
  | { readonly kind: 'log-range'; readonly blocks: number; readonly code: number; readonly message: string }
  /** Call: the tags `finalized` and `safe` lag by this number of blocks. The head does not lag. */
  | { readonly kind: 'finality-behind'; readonly blocks: number }
  /** Transaction: the answer is its hash, but the node never gets it. */
  | { readonly kind: 'swallow' }
  /** Call: the answer is a harmful lie (lies.ts). Strikes only answers that this lie can change. */
  | { readonly kind: 'lie'; readonly how: LieKind }
  /**
   * Request: `flood` answers with this number of MiB of compressed blanks and never ends. `redirect` sends the client
   * to another host.
   */
  | { readonly kind: 'flood'; readonly mebibytes: number }
  | { readonly kind: 'redirect'; readonly to: string }

/** A fault, and when it strikes. */
export interface FaultRule {
  readonly fault: NodeFault
  /** Only these JSON-RPC methods. `eth_call 0x…` names a selector. Absent: every call. */
  readonly methods?: readonly string[]
  /** Probability that a matching request or call is struck. Default 1. */
  readonly probability?: number
  /** The fault ends after this number of strikes. */
  readonly times?: number
  /** Source of random numbers, from 0 to below 1. Default: Math.random. */
  readonly random?: () => number
}

/** An active rule. */
export interface ActiveRule {
  /** How often the fault has struck. */
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
   * The first fault of these kinds that now strikes a request or call with one of these methods. A fault that does not
   * apply does not count a strike.
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
