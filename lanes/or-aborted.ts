/** Undefined if the signal aborts before the work has ended. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
