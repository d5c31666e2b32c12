import { defaultTakeover } from '../temporal/contracts/takeover.ts'
import type { Context } from '@temporalio/activity'

/**
 * When a step sends its first heartbeat, and how often after that, ms. Each costs a state transition. Half of the time-out leaves the other half to a busy
 * process; the SDK itself sends one in 80 % of the time-out at most.
 */
export function heartbeatPace({ info }: { readonly info: Pick<Context['info'], 'heartbeatTimeoutMs'> }): {
  readonly firstMs: number
  readonly everyMs: number
} {
  const timeoutMs = info.heartbeatTimeoutMs ?? defaultTakeover.heartbeatMs
  return { firstMs: timeoutMs * 0.5, everyMs: timeoutMs * 0.3 }
}
