import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitLimit {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/** `onLimit`, which must settle the promise, is called after the time-out or an abort. */
export class Wait<T> {
  readonly promise: Promise<T>
  resolve: (result: T) => void = () => {}
  reject: (error: unknown) => void = () => {}
  over = false

  constructor({ timeoutMs, signal }: WaitLimit, onLimit: () => void) {
    const timer = timeoutMs === undefined ? undefined : setTimeout(onLimit, timeoutMs)
    const end = () => {
      this.over = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onLimit)
    }
    this.promise = new Promise((resolve, reject) => {
      this.resolve = (result) => {
        end()
        resolve(result)
      }
      this.reject = (error) => {
        end()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    signal?.addEventListener('abort', onLimit)
    if (signal?.aborted) queueMicrotask(onLimit)
  }
}

/** Settles like `work` or, if the signal aborts first, rejects with `why()`. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>, why: () => Error): Promise<T> {
  const wait = new Wait<T>({ signal }, () => wait.reject(why()))
  work.then(wait.resolve, wait.reject)
  return wait.promise
}

/** Maximum delay of a Node timer, ms. A timer with a longer delay fires immediately. */
const longestTimerMs = 2 ** 31 - 1

/** Never rejects. An abort ends the pause. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(Math.min(ms, longestTimerMs), undefined, { signal }).catch(() => {})
}

/** Lets the process do its other work, such as timers and answers of nodes, before the caller continues. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** Settles like `work` or, after `ms`, like `late()`. If possible, `late` should abort the work. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms).unref())).then(late)
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

export interface Polling {
  readonly everyMs: number
  readonly signal: AbortSignal
  /** Called with the error of a failed round. Polling then continues. Without `onError`, the error ends the polling. */
  readonly onError?: (error: unknown) => void
}

/** Repeats `round` until it returns true or the signal aborts. The first round starts immediately. */
export async function poll(round: () => Promise<boolean | void>, { everyMs, signal, onError }: Polling): Promise<void> {
  while (!signal.aborted) {
    try {
      if ((await round()) === true) return
    } catch (error) {
      if (!onError) throw error
      onError(error)
    }
    await pause(everyMs, signal)
  }
}

export interface Service {
  stop(): Promise<void>
}

/** Polls until a round returns true or `stop` is called. Without `onError`, errors are ignored. */
export function startPolling(
  round: (signal: AbortSignal) => Promise<boolean | void>,
  { everyMs, onError }: Pick<Polling, 'everyMs' | 'onError'>,
): Service {
  const stopping = new AbortController()
  const { signal } = stopping
  const ended = poll(() => round(signal), { everyMs, signal, onError: (error) => signal.aborted || onError?.(error) })
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}
