import type { Heads } from '../../chains/port.ts'

/** When the source's count proves what a subscription cannot have told. */
export interface TailProof {
  /** A subscription stands: from now on messages of new blocks are heard. */
  begin(): void
  /** Every block that may hold a message which was signed before then is final. */
  isDue(): boolean
  /** The proof is being made; the function that is returned says that it is made. What begins meanwhile needs its own. */
  take(): () => void
  close(): void
}

/** A head that is told after the subscription may have been asked for before it: the one after it was not. */
const headsToSee = 2

/**
 * A guardian may sign as soon as a block is there. So all that was signed before a subscription is in blocks up to the head at the time: when that head is
 * final, the count at the finalized state covers it.
 */
export function createTailProof(heads: Pick<Heads, 'current' | 'subscribe'>): TailProof {
  let pending: { seen: number; head?: number } | undefined
  const end = heads.subscribe(({ latest }) => {
    if (pending && pending.head === undefined && ++pending.seen >= headsToSee) pending.head = latest.height
  })
  return {
    begin() {
      pending = { seen: 0 }
    },
    isDue: () => pending?.head !== undefined && (heads.current?.finalized ?? -1) >= pending.head,
    take() {
      const taken = pending
      const isDue = taken?.head !== undefined && (heads.current?.finalized ?? -1) >= taken.head
      return () => {
        if (isDue && pending === taken) pending = undefined
      }
    },
    close: end,
  }
}
