import type { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'

export interface Result {
  readonly what: string
  /** Absent: it passed. */
  readonly problem?: string
}

export type Messages = ReturnType<typeof createPluginMessages<unknown>>

/** A message of the plug-in, as it reads it. */
export type Sent = ReturnType<Messages['readBytes']>

export async function resultOf(what: string, check: () => Promise<void>): Promise<Result> {
  try {
    await check()
    return { what }
  } catch (error) {
    return { what, problem: error instanceof Error ? error.message : String(error) }
  }
}
