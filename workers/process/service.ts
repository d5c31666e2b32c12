import { poll } from '../../runtime/wait.ts'

/** A part of a process in addition to its Temporal Workers. It may be stopped twice. */
export interface Service {
  stop(): Promise<void>
}

/** Checks now and every `everyMs` until a check returns true or it is stopped. Without `onError` checks never throw. */
export function startPolling(
  check: (signal: AbortSignal) => Promise<boolean | void>,
  { everyMs, onError }: { readonly everyMs: number; readonly onError?: (error: unknown) => void },
): Service {
  const stopping = new AbortController()
  const { signal } = stopping
  const report = (error: unknown) => {
    if (!signal.aborted) onError?.(error)
  }
  const ended = poll(() => check(signal), { everyMs, signal, onError: report })
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}
