/** How long a caller waits, ms (absent: without end); it leaves earlier when the signal aborts. */
export interface WaitLimit {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/** One caller's wait. `onLimit` is called when the time is over or the signal aborts, and decides what the caller gets. */
export class Wait<T> {
  readonly promise: Promise<T>
  resolve: (result: T) => void = () => {}
  reject: (error: unknown) => void = () => {}
  /** The caller has its answer. */
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
