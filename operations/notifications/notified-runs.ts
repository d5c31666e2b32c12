import { LRUCache } from 'lru-cache'
import { type NotifierCursor, notifierLimits } from '../../domain/notification/notifier.ts'

const mostKept = 50_000

/** The runs of which the receiver was notified. Reads overlap, because Temporal lists some runs late. */
export class NotifiedRuns {
  readonly #closedAt = new LRUCache<string, number>({ max: mostKept })

  has(run: string): boolean {
    return this.#closedAt.has(run)
  }

  add(run: string, closedAt: number): void {
    this.#closedAt.set(run, closedAt)
  }

  follow({ notified, from }: NotifierCursor): void {
    for (const [run, closedAt] of notified) if (!this.has(run)) this.add(run, closedAt)
    for (const [run, closedAt] of [...this.#closedAt.entries()]) if (closedAt < from) this.#closedAt.delete(run)
  }

  carried(): NotifierCursor['notified'] {
    return [...this.#closedAt.entries()].slice(0, notifierLimits.notified).toReversed()
  }
}

/** Moves `from` to the latest closing time that was known `settleMs` ago, because Temporal lists some runs late. */
export function cursorAfter(cursor: NotifierCursor, seen: number, now: number, settleMs: number): NotifierCursor {
  const latest = Math.max(cursor.seen, seen)
  const { since, seen: settled } = cursor.settling
  if (since === 0 || now < since) return { ...cursor, seen: latest, settling: { since: now, seen: latest } }
  if (now - since < settleMs) return { ...cursor, seen: latest }
  return { ...cursor, from: Math.max(cursor.from, settled), seen: latest, settling: { since: now, seen: latest } }
}
