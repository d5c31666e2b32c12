import { LRUCache } from 'lru-cache'
import { RelayerError } from '../domain/catalogue/errors.ts'

interface GateLimits {
  readonly atOnce: number
  readonly waiting: number
}

/** Runs a read, perhaps later. Throws API_BUSY and the errors of the read. */
export type ReadGate = <Answer>(read: () => Promise<Answer>) => Promise<Answer>

/** Limits expensive reads: at most `atOnce` of this gate's reads run at a time, and at most `waiting` more wait. */
export function createReadGate({ atOnce, waiting }: GateLimits): ReadGate {
  const queue: (() => void)[] = []
  let running = 0
  return async (read) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new RelayerError('API_BUSY', { facts: { atOnce, waiting } })
      // A read that finishes passes its place to the first of `queue`, so `running` does not change.
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

export type ReadFor = 'read' | 'order'

/** Reads for orders have a gate of their own, so that readers cannot delay people who give orders. */
export function createReadGates(limits: GateLimits): Readonly<Record<ReadFor, ReadGate>> {
  return { read: createReadGate(limits), order: createReadGate(limits) }
}

const usuallyKept = 20

/** Lets callers with the same key share a read until `keepMs` (ms) after its answer. A failed read is not kept. */
export function createSharedReads<Answer>(
  keepMs: number,
  gate: ReadGate,
  mostKept = usuallyKept,
): (key: string, read: () => Promise<Answer>) => Promise<Answer> {
  const kept = new LRUCache<string, Promise<Answer>>({ max: mostKept })
  return (key, read) => {
    const known = kept.get(key)
    if (known) return known
    const reading = gate(read)
    kept.set(key, reading)
    const forget = () => kept.get(key) === reading && kept.delete(key)
    reading.then(() => setTimeout(forget, keepMs).unref(), forget)
    return reading
  }
}
