import { type NotifierCursor, notifierLimits } from '../../domain/notification/notifier.ts'

/** Most runs that a process remembers of a receiver. */
const mostKept = 50_000

/**
 * Which of the closed runs that the list shows were told already. The list shows some runs late, so that each look goes back to what closed minutes ago. A
 * process remembers more of them than the state of the notifier carries.
 */
export class ToldRuns {
  readonly #closedAt = new Map<string, number>()

  has(run: string): boolean {
    return this.#closedAt.has(run)
  }

  add(run: string, closedAt: number): void {
    this.#closedAt.set(run, closedAt)
    const [oldest] = this.#closedAt.keys()
    if (this.#closedAt.size > mostKept && oldest !== undefined) this.#closedAt.delete(oldest)
  }

  /** Takes what the state of the notifier knows, and forgets what closed before its looks begin. */
  follow({ told, from }: NotifierCursor): void {
    for (const [run, closedAt] of told) this.add(run, closedAt)
    for (const [run, closedAt] of this.#closedAt) if (closedAt < from) this.#closedAt.delete(run)
  }

  /** For the state: the newest. */
  carried(): NotifierCursor['told'] {
    return [...this.#closedAt].slice(-notifierLimits.told)
  }
}

/**
 * The cursor after a look that saw all there was. What a look saw counts as told once so much time has passed that the list shows what closed before then.
 * @param seen the latest end that the list has shown @param now by the clock of this process, which only measures how long ago a look was
 */
export function afterLook(cursor: NotifierCursor, seen: number, now: number, settleMs: number): NotifierCursor {
  const latest = Math.max(cursor.seen, seen)
  const { since, seen: settled } = cursor.settling
  const isFirst = since === 0
  if (isFirst || now < since) return { ...cursor, seen: latest, settling: { since: now, seen: latest } }
  if (now - since < settleMs) return { ...cursor, seen: latest }
  return { ...cursor, from: Math.max(cursor.from, settled), seen: latest, settling: { since: now, seen: latest } }
}
