import { LRUCache } from 'lru-cache'
import { type NotifierCursor, notifierLimits } from '../../domain/notification/notifier.ts'

/** Most runs that a process remembers for a receiver. */
const mostKept = 50_000

/**
 * The listed runs of which a receiver was already notified. Temporal lists some runs late, so each read goes back some
 * minutes. A process remembers more runs than the state of the notifier carries.
 */
export class NotifiedRuns {
  readonly #closedAt = new LRUCache<string, number>({ max: mostKept })

  has(run: string): boolean {
    return this.#closedAt.has(run)
  }

  add(run: string, closedAt: number): void {
    this.#closedAt.set(run, closedAt)
  }

  /** Adds the runs of the notifier's state, and forgets those that closed before the next read begins. */
  follow({ notified, from }: NotifierCursor): void {
    for (const [run, closedAt] of notified) if (!this.has(run)) this.add(run, closedAt)
    for (const [run, closedAt] of [...this.#closedAt.entries()]) if (closedAt < from) this.#closedAt.delete(run)
  }

  /** The newest runs, for the state. */
  carried(): NotifierCursor['notified'] {
    return [...this.#closedAt.entries()].slice(0, notifierLimits.notified).toReversed()
  }
}

/**
 * The cursor after a complete read. Runs of a read are settled once enough time has passed for Temporal to list every
 * run that closed before.
 * @param seen the latest end that was listed @param now by the clock of this process, which only measures the time
 * between reads
 */
export function cursorAfter(cursor: NotifierCursor, seen: number, now: number, settleMs: number): NotifierCursor {
  const latest = Math.max(cursor.seen, seen)
  const { since, seen: settled } = cursor.settling
  const isFirst = since === 0
  if (isFirst || now < since) return { ...cursor, seen: latest, settling: { since: now, seen: latest } }
  if (now - since < settleMs) return { ...cursor, seen: latest }
  return { ...cursor, from: Math.max(cursor.from, settled), seen: latest, settling: { since: now, seen: latest } }
}
