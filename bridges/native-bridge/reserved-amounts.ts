import { LRUCache } from 'lru-cache'

const mostBlocks = 256

/** Amounts past the gate that the contract does not count yet. They lapse after `lastsMs` unless a step renews them. */
export function createReservedAmounts({ lastsMs = 600_000, clock = () => performance.now() } = {}) {
  const held = new Map<string, { readonly amount: bigint; readonly at: number }>()
  let total = 0n
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
    /** Holds the amount until it is dropped, or for `lastsMs` from the last call. */
    take(id: string, amount: bigint): void {
      drop(id)
      held.set(id, { amount, at: clock() })
      total += amount
    },
    drop(id: string): void {
      drop(id)
    },
    /** Limits read before this block do not count these transfers: `others` adds them. */
    complete(ids: readonly string[], upTo: number): void {
      const sum = ids.reduce((sum, id) => sum + drop(id), completed.get(upTo) ?? 0n)
      if (sum > 0n) completed.set(upTo, sum)
    },
    /** Amounts of other transfers that limits read at this height lack. */
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
