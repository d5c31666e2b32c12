import { RelayerError } from '../domain/catalogue/errors.ts'

/** How many readings go on at a time, and how many wait for one of them to end. */
export interface GateLimits {
  readonly atOnce: number
  readonly waiting: number
}

/** Runs a reading. Throws API_BUSY, and what the reading throws. */
export type ReadGate = <Answer>(read: () => Promise<Answer>) => Promise<Answer>

/** What is dear, and asked for with whatever a request says, goes through a gate: however many ask, a process reads so much at a time and no more. */
export function createReadGate({ atOnce, waiting }: GateLimits): ReadGate {
  const queue: (() => void)[] = []
  let running = 0
  return async (read) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new RelayerError('API_BUSY', { facts: { atOnce, waiting } })
      // Who leaves hands over the place: `running` stays.
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

/** For whom something is read: only to show it, or to act on it. */
export type ReadFor = 'read' | 'order'

/** A gate for those who only look, and one for orders: whoever may only look, and asks for whatever he likes, keeps no order out. */
export function createReadGates(limits: GateLimits): Readonly<Record<ReadFor, ReadGate>> {
  return { read: createReadGate(limits), order: createReadGate(limits) }
}

/** Answers that are kept for who asks the same, the newest. */
const mostKept = 20

/**
 * Readings that are shared: who asks the same meanwhile, or within so long after the answer, gets that answer. Others go through the gate. Throws API_BUSY, and what
 * the reading throws, which is not kept.
 */
export function createSharedReads<Answer>(keepMs: number, gate: ReadGate): (key: string, read: () => Promise<Answer>) => Promise<Answer> {
  const kept = new Map<string, Promise<Answer>>()
  return (key, read) => {
    const known = kept.get(key)
    if (known) return known
    const reading = gate(read)
    kept.set(key, reading)
    const forget = () => kept.get(key) === reading && kept.delete(key)
    reading.then(
      () => {
        setTimeout(forget, keepMs).unref()
        const [oldest] = kept.keys()
        if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
      },
      () => void forget(),
    )
    return reading
  }
}
