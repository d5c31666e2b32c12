import { LRUCache } from 'lru-cache'
import { RelayerError } from '../domain/catalogue/errors.ts'

/** How many reads run at a time, and how many wait. */
export interface GateLimits {
  readonly atOnce: number
  readonly waiting: number
}

/** Runs a read. Throws API_BUSY, and what the read throws. */
export type ReadGate = <Answer>(read: () => Promise<Answer>) => Promise<Answer>

/** Bounds expensive reads: however many requests come, a process runs `atOnce` of them. */
export function createReadGate({ atOnce, waiting }: GateLimits): ReadGate {
  const queue: (() => void)[] = []
  let running = 0
  return async (read) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new RelayerError('API_BUSY', { facts: { atOnce, waiting } })
      // A finished read hands its place over: `running` stays.
      await new Promise<void>((go) => queue.push(go))
    } else running += 1
    try {
      return await read()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}

/** The purpose of a read: to show the result, or to act on it. */
export type ReadFor = 'read' | 'order'

/** Separate gates, so that readers cannot block orders. */
export function createReadGates(limits: GateLimits): Readonly<Record<ReadFor, ReadGate>> {
  return { read: createReadGate(limits), order: createReadGate(limits) }
}

/** Most answers that are kept. */
const mostKept = 20

/**
 * Shares reads: a request with the same key gets the running read, or its answer for `keepMs`. Others go through the
 * gate. Throws API_BUSY, and what the read throws, which is not kept.
 */
export function createSharedReads<Answer>(keepMs: number, gate: ReadGate): (key: string, read: () => Promise<Answer>) => Promise<Answer> {
  const kept = new LRUCache<string, Promise<Answer>>({ max: mostKept })
  return (key, read) => {
    const known = kept.get(key)
    if (known) return known
    const reading = gate(read)
    kept.set(key, reading)
    const forget = () => kept.get(key) === reading && kept.delete(key)
    reading.then(
      () => void setTimeout(forget, keepMs).unref(),
      () => void forget(),
    )
    return reading
  }
}
