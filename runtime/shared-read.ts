import { pause } from './wait.ts'

/** Shares reads: each call gets a read that starts after the call. Reads start at least `everyMs` (ms) apart. */
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

/**
 * Decides how long answers are kept. `fromStart`: ms from the start of a read. `fromAnswer`: ms from the end of a read,
 * or a function that returns this time for an answer. Both also keep errors, for which the function gets `undefined`.
 * `lasting`: whether to keep an answer until `clear`. Errors and other answers are not kept.
 */
type Keeping<T> =
  | { readonly fromStart: number }
  | { readonly fromAnswer: number | ((answer: T | undefined) => number) }
  | { readonly lasting: (answer: T) => boolean }

interface Options {
  /** If true, a failed read returns the last answer of its key, if there is one. */
  readonly orLast?: boolean
  readonly clock?: (() => number) | undefined
}

interface Kept<T> {
  readonly answer: Promise<T>
  readonly startedAt: number
  until: number
}

/** Shares reads by key. By default, answers are kept until `clear`, and errors are not kept. */
export function keptReads<K, T>(
  read: (key: K) => Promise<T>,
  keeping: Keeping<T> = { lasting: () => true },
  { orLast = false, clock = () => performance.now() }: Options = {},
) {
  const kept = new Map<K, Kept<T>>()

  function begin(key: K, last: Kept<T> | undefined): Kept<T> {
    const startedAt = clock()
    const answer = orLast && last ? read(key).catch(() => last.answer) : read(key)
    const one: Kept<T> = { answer, startedAt, until: 'fromStart' in keeping ? startedAt + keeping.fromStart : Infinity }
    kept.set(key, one)
    const keep = (ms: number) => {
      if (ms > 0) one.until = clock() + ms
      else if (kept.get(key) === one) kept.delete(key)
    }
    if ('fromAnswer' in keeping) {
      const { fromAnswer } = keeping
      const msOf = typeof fromAnswer === 'number' ? () => fromAnswer : fromAnswer
      answer.then(
        (value) => keep(msOf(value)),
        () => keep(msOf(undefined)),
      )
    } else if ('lasting' in keeping) {
      answer.then(
        (value) => keep(keeping.lasting(value) ? Infinity : 0),
        () => keep(0),
      )
    }
    return one
  }

  return {
    clear: () => kept.clear(),
    /** @param maxAgeMs maximum age of the answer, from the start of its read */
    get(key: K, maxAgeMs = Infinity): Promise<T> {
      const known = kept.get(key)
      const now = clock()
      return (known && now < known.until && now - known.startedAt < maxAgeMs ? known : begin(key, known)).answer
    },
  }
}

export function keptRead<T>(read: () => Promise<T>, keeping: Keeping<T>): () => Promise<T> {
  const reads = keptReads<'', T>(read, keeping)
  return () => reads.get('')
}
