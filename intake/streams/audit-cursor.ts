import { type Intervals, takeNumbers } from '../../domain/stream/intervals.ts'

export type AuditCursor = ReturnType<typeof createAuditCursor>

/**
 * Takes numbers in turn, so that no number waits for ever behind lower numbers. Begins at a random number, because
 * processes restart often.
 */
export function createAuditCursor() {
  let next: bigint | undefined
  return {
    take(intervals: Intervals, most: number): readonly string[] {
      next ??= randomOf(intervals)
      const taken = takeNumbers(intervals, next ?? 0n, most).map(String)
      const last = taken.at(-1)
      if (last !== undefined) next = BigInt(last) + 1n
      return taken
    },
  }
}

function randomOf(intervals: Intervals): bigint | undefined {
  const one = intervals[Math.floor(Math.random() * intervals.length)]
  return one && one[0] + BigInt(Math.floor(Math.random() * Number(one[1] - one[0] + 1n)))
}
