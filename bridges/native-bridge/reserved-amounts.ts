import { LRUCache } from 'lru-cache'

/** Blocks whose sums are kept: limits read further back are useless anyway. */
const mostBlocks = 256

/**
 * Amounts of transfers that passed the gate and that the target contract does not count yet. A reservation lapses after
 * `lastsMs`: its transfer reserves again at its next step.
 */
export function createReservedAmounts({ lastsMs = 600_000, clock = () => performance.now() } = {}) {
  /** By transfer id, oldest first. */
  const held = new Map<string, { readonly amount: bigint; readonly at: number }>()
  let total = 0n
  /** Amounts of completions, by the block up to which they were read. */
  const completed = new LRUCache<number, bigint>({ max: mostBlocks })

  function drop(id: string): bigint {
    const one = held.get(id)
    if (!one) return 0n
    held.delete(id)
    total -= one.amount
    return one.amount
  }

  function dropLapsed(): void {
    for (const [id, { at }] of held) {
      if (clock() - at < lastsMs) return
      drop(id)
    }
  }

  return {
    /** Reserves the amount until it is dropped, or for `lastsMs` from the last call. */
    take(id: string, amount: bigint): void {
      drop(id)
      held.set(id, { amount, at: clock() })
      total += amount
    },
    drop(id: string): void {
      drop(id)
    },
    /**
     * Drops transfers completed up to this block. Limits read before the block do not count them: `others` adds them.
     */
    complete(ids: readonly string[], upTo: number): void {
      const sum = ids.reduce((sum, id) => sum + drop(id), completed.get(upTo) ?? 0n)
      if (sum > 0n) completed.set(upTo, sum)
    },
    /** The amounts reserved for all other transfers that limits read at this height do not include. */
    others(ids: readonly string[], height: number): bigint {
      dropLapsed()
      let sum = total
      for (const [upTo, amount] of completed.entries()) if (upTo > height) sum += amount
      return [...new Set(ids)].reduce((sum, id) => sum - (held.get(id)?.amount ?? 0n), sum)
    },
    get size() {
      dropLapsed()
      return held.size
    },
  }
}
