import { defaultFailoverTimes } from '../temporal/contracts/failover.ts'
import { Context } from '@temporalio/activity'

/** The first heartbeat of a step, and the time between the next ones, as shares of the time-out: the other half is left to a busy process. */
const firstShare = 0.5
const everyShare = 0.3

/** Runs a step with heartbeats, which find a dead worker and show the step's phase. Each costs a state transition: a healthy step ends before the first. */
export async function withHeartbeats<T>(step: (context: Context, enter: (phase: string) => void) => Promise<T>): Promise<T> {
  const context = Context.current()
  const timeoutMs = context.info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs
  const phases: { at: string; phase: string }[] = []
  let timer = setTimeout(function tick() {
    context.heartbeat(phases)
    timer = setTimeout(tick, timeoutMs * everyShare)
  }, timeoutMs * firstShare)
  try {
    return await step(context, (phase) => {
      if (phases.at(-1)?.phase !== phase) phases.push({ at: new Date().toISOString(), phase })
    })
  } finally {
    clearTimeout(timer)
  }
}
