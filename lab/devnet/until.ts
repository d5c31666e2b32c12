/** Options of `until`. `timeoutMs` bounds the whole wait. `everyMs` is the pause between two checks. */
export interface UntilOptions {
  readonly timeoutMs: number
  readonly everyMs?: number
  /**
   * Pauses grow to this, but to at most a tenth of the elapsed time, because polls keep several processes busy.
   * Default: up to 250 ms, or no growth if `everyMs` is given.
   */
  readonly growingToMs?: number
  /** The awaited condition, for the error: "anvil to answer". */
  readonly what: string
  /** A reason to give up early, such as the end of the awaited process. */
  readonly giveUp?: () => string | undefined
}

/**
 * Waits until `look` returns something other than undefined or false. An error of `look` counts as "not yet" and is
 * named if time runs out. Throws Error (plain: the caller knows which code it means).
 */
export async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false, options: UntilOptions): Promise<T> {
  const { everyMs = 25, growingToMs = options.everyMs ?? 250 } = options
  const startedAt = Date.now()
  const deadline = startedAt + options.timeoutMs
  let last: unknown
  for (;;) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      last = error
    }
    const reason = options.giveUp?.()
    if (reason !== undefined) throw new Error(`Gave up waiting for ${options.what}: ${reason}`, { cause: last })
    if (Date.now() > deadline) throw new Error(describe(options, last), { cause: last })
    const pauseMs = Math.max(everyMs, Math.min(growingToMs, (Date.now() - startedAt) / 10))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function describe({ what, timeoutMs }: UntilOptions, last: unknown): string {
  const detail = last instanceof Error ? `; last error: ${last.message}` : ''
  return `Waited ${timeoutMs} ms for ${what}${detail}`
}
