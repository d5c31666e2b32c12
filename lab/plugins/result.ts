import type { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'

export interface Result {
  readonly what: string
  readonly problem?: string
}

export type Messages = ReturnType<typeof createPluginMessages<unknown>>

export type Sent = ReturnType<Messages['readBytes']>

export async function resultOf(what: string, check: () => Promise<void>): Promise<Result> {
  try {
    await check()
    return { what }
  } catch (error) {
    return { what, problem: error instanceof Error ? error.message : String(error) }
  }
}
