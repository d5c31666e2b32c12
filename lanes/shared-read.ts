import { setTimeout } from 'node:timers/promises'

/**
 * A read that many ask for: each gets the answer, or the error, of one that began after it asked, and all that wait share the next one.
 * @param everyMs least time between the starts of two
 */
export function sharedRead<T>(read: () => Promise<T>, everyMs: number): () => Promise<T> {
  let next: Promise<T> | undefined
  let notBefore = 0
  const begin = async (): Promise<T> => {
    await setTimeout(Math.max(0, notBefore - Date.now()))
    next = undefined
    notBefore = Date.now() + everyMs
    return read()
  }
  return () => (next ??= begin())
}
