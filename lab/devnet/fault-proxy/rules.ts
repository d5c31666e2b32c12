import type { LieKind } from './lies.ts'

/** Faults of a node. A fault marked "Request" strikes a whole HTTP request if any of its calls matches the rule. */
export type NodeFault =
  /** Request: neither the node nor the client gets anything. */
  | { readonly kind: 'hang' }
  /** Request: the node executes the request, and the client gets no answer. A transaction then reaches the pool. */
  | { readonly kind: 'accept-and-hang' }
  /** Request: the connection is cut before the request reaches the node. */
  | { readonly kind: 'cut' }
  /** Request: the answer is a gateway's page with this status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Call: the answer is an error. With `forward`, the node still executes the call. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly forward: boolean }
  /** Call: the answer is this number of blocks old. A probability below 1 models a stale cache. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Batch: one answer is missing, one answer is duplicated, or all answers are reordered. */
  | { readonly kind: 'batch'; readonly how: 'drop' | 'duplicate' | 'reorder' }
  /** Receipt: missing, with the opposite status, or in another block. */
  | { readonly kind: 'receipt'; readonly lie: 'null' | 'status' | 'block' }
  /** Call: the answer is this value. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /** Logs: the first is missing, or all have foreign blocks and other amounts. Strikes only answers with logs. */
  | { readonly kind: 'logs'; readonly how: 'one-less' | 'forked' }
  /** Logs: a range of more than `blocks` blocks is refused, as nodes with a limit do. */
  | { readonly kind: 'log-range'; readonly blocks: number; readonly code: number; readonly message: string }
  /** Call: `finalized` and `safe` lag by this number of blocks, but the head does not. */
  | { readonly kind: 'finality-behind'; readonly blocks: number }
  /** Transaction: the answer is the hash, but the transaction never reaches the node. */
  | { readonly kind: 'swallow' }
  /** Call: the answer is a harmful lie (lies.ts). Strikes only answers that the lie can change. */
  | { readonly kind: 'lie'; readonly how: LieKind }
  /** Request: `flood` answers with MiB of compressed blanks. `redirect` sends the client to another host. */
  | { readonly kind: 'flood'; readonly mebibytes: number }
  | { readonly kind: 'redirect'; readonly to: string }

export interface FaultRule {
  readonly fault: NodeFault
  /** JSON-RPC methods that can be struck. `eth_call 0x…` names a selector. Undefined if every method can be struck. */
  readonly methods?: readonly string[]
  readonly probability?: number
  /** The fault ends after this number of strikes. */
  readonly times?: number
  readonly random?: () => number
}

export interface ActiveRule {
  readonly strikes: number
  end(): void
}

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
   * Counts a strike of the first fault that matches, and returns this fault. Faults for which `applies` returns false
   * do not match.
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
