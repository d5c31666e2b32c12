/** `timeoutMs` limits the whole wait. `everyMs` is the first pause between two checks. */
export interface UntilOptions {
  readonly timeoutMs: number
  readonly everyMs?: number
  /**
   * Longest pause, ms. Pauses grow with the wait, to a tenth of the elapsed time. Default: 250, or `everyMs` if set, so
   * that pauses do not grow.
   */
  readonly growingToMs?: number
  /** Text for the error, such as "anvil to answer". */
  readonly what: string
  readonly giveUp?: () => string | undefined
}

/**
 * Waits until `look` returns a value other than undefined or false. An error of `look` counts as "not yet". Throws a
 * plain Error after `timeoutMs`, or when `giveUp` returns a reason. The error's cause is the last error of `look`.
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
