import { type NumberStatus, seenRequests } from '../number-status.ts'
import type { StreamClient } from '../stream-client.ts'

export interface RecorderOptions {
  readonly streamClient: Pick<StreamClient, 'apply' | 'view'>
  /** Recorded together after this at the latest, ms, or as soon as there are so many. */
  readonly everyMs?: number
  readonly many?: number
  /** The same while all that is kept needs no delivery, ms. Default `everyMs`. */
  readonly quietMs?: number
}

export type Recorder = ReturnType<typeof createRecorder>

/** Most numbers of one update, and most that are kept while the stream is full: the audit finds the others. */
const mostRecorded = 1_000
const mostKept = 20_000

/** Numbers that the spy told, on their way to the stream: one update for many, however fast they come. */
export function createRecorder({ streamClient, everyMs = 1_000, many = 100, quietMs = everyMs }: RecorderOptions) {
  const kept = new Map<string, NumberStatus>()
  let recording: Promise<void> | undefined
  let closed = false
  const timer = createTimer(() => void flush().catch(() => {}))

  /** @param seen what has just come; absent: any of what is kept */
  function later(seen?: NumberStatus): void {
    if (closed || kept.size === 0) return
    const mayWait = quietMs > everyMs && (seen === 'ignored' || [...kept.values()].every((each) => each === 'ignored'))
    timer.within(mayWait ? quietMs : everyMs)
  }

  async function record(): Promise<void> {
    for (let batch = next(); batch.length > 0 && !closed; batch = next()) {
      const response = await streamClient.apply(seenRequests(batch, { received: true }))
      // Full meanwhile (another process recorded some), or gone back: the rest waits for the next time.
      if (response?.answers[0]?.kind !== 'done') return
      for (const [number, seen] of batch) if (kept.get(number) === seen) kept.delete(number)
    }
  }

  /** The lowest first, so that fewest gaps arise; as many transfers as the stream has room for. Numbers that need no room are never held back. */
  function next(): [string, NumberStatus][] {
    let room = streamClient.view?.room ?? mostRecorded
    // Thousands may wait for room, and are asked for with each change of the stream: they are sorted only where some of them fit.
    const fitting = room > 0 ? [...kept] : [...kept].filter(([, seen]) => seen !== 'started')
    const sorted = fitting.sort(([a], [b]) => compareNumbers(a, b))
    return sorted.filter(([, seen]) => seen !== 'started' || room-- > 0).slice(0, mostRecorded)
  }

  async function flush(): Promise<void> {
    timer.clear()
    // At most one at a time: numbers that come meanwhile go with the next.
    while (recording) await recording.catch(() => {})
    recording = record()
    try {
      await recording
    } finally {
      recording = undefined
      later()
    }
  }

  return {
    /** How many are not recorded yet: they came just now, or the stream is full. */
    get size(): number {
      return kept.size
    },
    /** It is recorded as soon as there is room: nobody else needs to look for it. */
    has: (number: string) => kept.has(number),
    add(number: string, seen: NumberStatus): void {
      // Delivered and ignored are final: they outrank that a transfer was started.
      if (kept.get(number) === undefined || seen !== 'started') kept.set(number, seen)
      for (const oldest of kept.keys()) {
        if (kept.size <= mostKept) break
        kept.delete(oldest)
      }
      if (kept.size === many && !recording) void flush().catch(() => {})
      else later(seen)
    },
    /** The lowest number that is not recorded yet. */
    get lowest(): string | undefined {
      return [...kept.keys()].sort(compareNumbers)[0]
    },
    /** Records all that there is room for; resolves when it was answered. Throws STREAM_UNREACHABLE after the client is closed. */
    flush,
    close(): void {
      closed = true
      timer.clear()
    },
  }
}

/** Calls once, after the shortest of the times that it was given since the last call. */
function createTimer(call: () => void) {
  let timer: NodeJS.Timeout | undefined
  let dueAt = Infinity
  const clear = () => {
    clearTimeout(timer)
    dueAt = Infinity
  }
  return {
    clear,
    within(ms: number): void {
      const at = performance.now() + ms
      if (at >= dueAt) return
      clear()
      dueAt = at
      timer = setTimeout(() => {
        dueAt = Infinity
        call()
      }, ms)
    },
  }
}

/** Both canonical: without leading zeros, so that the longer one is the higher. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1)
}
