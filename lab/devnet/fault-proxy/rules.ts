import type { LieKind } from './lies.ts'

/**
 * Faults of a node. A fault of an HTTP request strikes if any of its calls matches the rule. Other faults strike single
 * calls.
 */
export type NodeFault =
  /** The request: never executed, never answered. */
  | { readonly kind: 'hang' }
  /** The request: executed, never answered. A transaction in it is in the pool. */
  | { readonly kind: 'accept-and-hang' }
  /** The request: the connection is cut before execution. */
  | { readonly kind: 'cut' }
  /** The request: answered with a gateway's page. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** A call: answered with an error, after its execution (`forward`) or without it. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly forward: boolean }
  /**
   * A call: answered with the state of this number of blocks ago. With a probability below 1 the age varies by request
   * (a stale cache), else it is constant (a lag).
   */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** The answers of a batch: one is missing, one comes twice, or their order differs. */
  | { readonly kind: 'batch'; readonly how: 'drop' | 'duplicate' | 'reorder' }
  /** A receipt: missing, with the opposite status, or of another block. */
  | { readonly kind: 'receipt'; readonly lie: 'null' | 'status' | 'block' }
  /** A call: answered with this value. */
  | { readonly kind: 'answer'; readonly result: unknown }
  /** Logs: the first is missing, or all have foreign blocks and other amounts. Strikes only if there are logs. */
  | { readonly kind: 'logs'; readonly how: 'one-less' | 'forked' }
  /** Logs: a range of more blocks than this is refused, as nodes with a limit do. */
  | { readonly kind: 'log-range'; readonly blocks: number; readonly code: number; readonly message: string }
  /** The tags `finalized` and `safe` lag by this number of blocks. The head does not. */
  | { readonly kind: 'finality-behind'; readonly blocks: number }
  /** A transaction: answered with its hash, but not forwarded. */
  | { readonly kind: 'swallow' }
  /** A call: answered with a harmful lie (lies.ts). Strikes only answers for which there is a lie of this kind. */
  | { readonly kind: 'lie'; readonly how: LieKind }
  /**
   * The request: answered with this number of MiB of compressed blanks without an end, or redirected to another host.
   */
  | { readonly kind: 'flood'; readonly mebibytes: number }
  | { readonly kind: 'redirect'; readonly to: string }

/** When a fault strikes. */
export interface FaultRule {
  readonly fault: NodeFault
  /** Only these JSON-RPC methods, or `eth_call 0x…` with a selector. Absent: every call. */
  readonly methods?: readonly string[]
  /** Probability for each matching request or call. Default 1. */
  readonly probability?: number
  /** Ends after this number of strikes. */
  readonly times?: number
  /** Random numbers, from 0 to below 1. Default: Math.random. */
  readonly random?: () => number
}

/** An active rule. */
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
   * The first fault of these kinds that strikes a request or a call with these methods now. A fault that does not apply
   * counts no strike.
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
