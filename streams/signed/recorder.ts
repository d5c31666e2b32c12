import { type NumberStatus, seenRequest } from '../number-status.ts'
import type { StreamClient } from '../stream-client.ts'

export interface RecorderOptions {
  readonly streamClient: Pick<StreamClient, 'apply' | 'view'>
  /** Told together at the latest after this, ms. Default 1 s. */
  readonly everyMs?: number
  /** Or as soon as there are so many. Default 100. */
  readonly many?: number
}

/** What was seen, on its way to the stream: one update for many, however fast they come. */
export interface Recorder {
  add(number: string, seen: NumberStatus): void
  /** Tells all that there is room for; resolves when it was answered. Throws STREAM_UNREACHABLE after the client is closed. */
  flush(): Promise<void>
  /** Numbers that were not told yet: since a moment ago, or since the stream is full. */
  readonly size: number
  close(): void
}

/** Of one update; and kept while the stream is full: what is beyond is found again by the audit. */
const mostTold = 1_000
const mostKept = 20_000

export function createRecorder({ streamClient, everyMs = 1_000, many = 100 }: RecorderOptions): Recorder {
  const kept = new Map<string, NumberStatus>()
  let timer: NodeJS.Timeout | undefined
  let telling: Promise<void> | undefined
  let closed = false

  function later(): void {
    if (!closed && kept.size > 0) timer ??= setTimeout(() => void flush().catch(() => {}), everyMs)
  }

  async function tell(): Promise<void> {
    for (let batch = next(); batch.length > 0 && !closed; batch = next()) {
      const told = await streamClient.apply([seenRequest(batch)])
      // Full meanwhile (another process told some), or gone back: what is left waits for the next time.
      if (told?.answers[0]?.kind !== 'done') return
      for (const [number, seen] of batch) if (kept.get(number) === seen) kept.delete(number)
    }
  }

  /** The lowest first, so that fewest gaps arise; as many transfers as the stream has room for. What needs no room goes in any case. */
  function next(): [string, NumberStatus][] {
    const sorted = [...kept].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
    let room = streamClient.view?.room ?? mostTold
    return sorted.filter(([, seen]) => seen !== 'started' || room-- > 0).slice(0, mostTold)
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    // At most one on its way: who comes meanwhile goes with the next.
    while (telling) await telling.catch(() => {})
    telling = tell()
    try {
      await telling
    } finally {
      telling = undefined
      later()
    }
  }

  return {
    get size() {
      return kept.size
    },
    add(number, seen) {
      // What is delivered or ignored is so for good: it outranks that a transfer was started.
      if (kept.get(number) === undefined || seen !== 'started') kept.set(number, seen)
      for (const oldest of kept.keys()) {
        if (kept.size <= mostKept) break
        kept.delete(oldest)
      }
      if (kept.size === many && !telling) void flush().catch(() => {})
      else later()
    },
    flush,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
