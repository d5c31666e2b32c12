import { pause } from './wait.ts'

/** Each call gets a read that starts after the call, shared with other waiting calls. Starts are `everyMs` apart. */
export function sharedRead<T>(read: () => Promise<T>, everyMs: number): () => Promise<T> {
  let next: Promise<T> | undefined
  let notBefore = 0
  const begin = async (): Promise<T> => {
    await pause(Math.max(0, notBefore - performance.now()))
    next = undefined
    notBefore = performance.now() + everyMs
    return read()
  }
  return () => (next ??= begin())
}

type Keeping<T> = { readonly fromStart: number } | { readonly fromAnswer: number | ((answer: T | undefined) => number) }

/** Callers share one read, or its error, for `fromStart` ms from its start or for `fromAnswer` ms from its end. */
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
