/** What was let through and is not counted by the target's contract yet. After `lastsMs` one lapses: its transfer asks again when it is its turn. */
export function createReservations({ lastsMs = 600_000, clock = () => performance.now() } = {}) {
  /** Oldest first. */
  const held = new Map<string, { readonly amount: bigint; readonly at: number }>()
  let total = 0n

  function drop(id: string): void {
    const one = held.get(id)
    if (!one) return
    held.delete(id)
    total -= one.amount
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
    drop,
    /** What is held for all but these. */
    beside(ids: readonly string[]): bigint {
      forget()
      return [...new Set(ids)].reduce((sum, id) => sum - (held.get(id)?.amount ?? 0n), total)
    },
    get size() {
      forget()
      return held.size
    },
  }
}
