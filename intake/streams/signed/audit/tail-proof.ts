import type { Heads } from '../../../../chains/port.ts'

export type TailProof = ReturnType<typeof createTailProof>

/** The first head after the subscription may have been requested before it: the second one was not. */
const headsToSee = 2

/**
 * When the source's count covers all messages that a subscription may have missed: a guardian signs a block that is there, so they are in blocks up to the
 * head at the time, and the count at the finalized state covers them when that head is final.
 */
export function createTailProof(heads: Pick<Heads, 'current' | 'subscribe'>) {
  let pending: { seen: number; head?: number } | undefined
  const end = heads.subscribe(({ latest }) => {
    if (pending && pending.head === undefined && ++pending.seen >= headsToSee) pending.head = latest.height
  })
  /** Every block that may hold a message which was signed before the subscription is final. */
  const isDue = () => pending?.head !== undefined && (heads.current?.finalized ?? -1) >= pending.head
  return {
    /** A subscription was opened: from now on messages of new blocks are heard. */
    begin(): void {
      pending = { seen: 0 }
    },
    isDue,
    /** The count is about to be read; the returned function says that it was recorded. A subscription that begins meanwhile needs its own count. */
    take(): () => void {
      const taken = isDue() ? pending : undefined
      return () => {
        if (pending === taken) pending = undefined
      }
    },
    close: end,
  }
}
