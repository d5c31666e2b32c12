import { setTimeout } from 'node:timers/promises'

/**
 * A read that many ask for: each gets the answer, or the error, of one that began after it asked, and all that wait share the next one.
 * @param everyMs least time between the starts of two
 */
export function sharedRead<T>(read: () => Promise<T>, everyMs: number): () => Promise<T> {
  let next: Promise<T> | undefined
  let notBefore = 0
  const begin = async (): Promise<T> => {
    await setTimeout(Math.max(0, notBefore - performance.now()))
    next = undefined
    notBefore = performance.now() + everyMs
    return read()
  }
  return () => (next ??= begin())
}

/** How long an answer, or an error, is given to those who come later. `fromStart`: ms from the start of the read, `fromAnswer`: from its end; of an answer, it may depend on it. */
type Keeping<T> = { readonly fromStart: number } | { readonly fromAnswer: number | ((answer: T | undefined) => number) }

/** A read that many ask for: all who come while it is under way, and those who come soon after it, get the same answer, or the same error. */
export function keptRead<T>(read: () => Promise<T>, keeping: Keeping<T>): () => Promise<T> {
  let last: { readonly answer: Promise<T>; until: number } | undefined
  const begin = () => {
    const startedAt = performance.now()
    const one = { answer: read(), until: 'fromStart' in keeping ? startedAt + keeping.fromStart : Infinity }
    if ('fromAnswer' in keeping) {
      const { fromAnswer } = keeping
      const keep = (answer?: T) => void (one.until = performance.now() + (typeof fromAnswer === 'number' ? fromAnswer : fromAnswer(answer)))
      one.answer.then(keep, () => keep())
    }
    return one
  }
  return () => {
    if (!last || performance.now() >= last.until) last = begin()
    return last.answer
  }
}
