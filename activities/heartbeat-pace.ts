import type { Context } from '@temporalio/activity'

/** As workflows/policies.ts has it where nothing else is configured, ms. */
const defaultTimeoutMs = 10_000

/** When a step gives its first sign of life, and how often after that, ms: three fit into its heartbeat time-out. */
export function heartbeatPace({ info }: { readonly info: Pick<Context['info'], 'heartbeatTimeoutMs'> }): {
  readonly firstMs: number
  readonly everyMs: number
} {
  const timeoutMs = info.heartbeatTimeoutMs ?? defaultTimeoutMs
  return { firstMs: timeoutMs * 0.4, everyMs: timeoutMs * 0.3 }
}
