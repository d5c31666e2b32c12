/** Sums of so many blocks are kept: a read of the limits that takes longer is of no use anyway. */
const mostBlocks = 256

/** What was let through and is not counted by the target's contract yet. After `lastsMs` one lapses: its transfer asks again when it is its turn. */
export function createReservations({ lastsMs = 600_000, clock = () => performance.now() } = {}) {
  /** Oldest first. */
  const held = new Map<string, { readonly amount: bigint; readonly at: number }>()
  let total = 0n
  /** What completions took, by the block up to which they were looked for. Oldest first. */
  const completed = new Map<number, bigint>()

  function drop(id: string): bigint {
    const one = held.get(id)
    if (!one) return 0n
    held.delete(id)
    total -= one.amount
    return one.amount
  }

  function forget(): void {
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
    /** Drops those that were completed up to this block. Limits that were read before it do not count them, so for these they are held on. */
    complete(ids: readonly string[], upTo: number): void {
      const sum = ids.reduce((sum, id) => sum + drop(id), completed.get(upTo) ?? 0n)
      if (sum === 0n) return
      completed.delete(upTo)
      completed.set(upTo, sum)
      const [oldest] = completed.keys()
      if (completed.size > mostBlocks && oldest !== undefined) completed.delete(oldest)
    },
    /** What is held for all but these, beside limits that were read when this was the latest block. */
    beside(ids: readonly string[], height: number): bigint {
      forget()
      let sum = total
      for (const [upTo, amount] of completed) if (upTo > height) sum += amount
      return [...new Set(ids)].reduce((sum, id) => sum - (held.get(id)?.amount ?? 0n), sum)
    },
    get size() {
      forget()
      return held.size
    },
  }
}
