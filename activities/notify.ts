import { NotifyRound, type NotifyRoundDeps } from '../operations/notifications/notify-round.ts'
import type { Receiver } from '../domain/notification/notification.ts'
import { NotifiedRuns } from '../operations/notifications/notified-runs.ts'
import type { NotifierSteps } from '../temporal/contracts/notifier.ts'
import type { NotifierState } from '../domain/notification/notifier.ts'
import { defaultFailoverTimes } from '../temporal/contracts/failover.ts'
import { Context } from '@temporalio/activity'

interface NotifyDeps extends NotifyRoundDeps {
  readonly receivers: ReadonlyMap<string, Receiver>
  readonly stopping: AbortSignal
}

/**
 * The step that notifies a receiver. Heartbeats carry the state, so that another process can continue after a crash.
 */
export function createNotify(deps: NotifyDeps): NotifierSteps['notify'] {
  const byReceiver = new Map<string, NotifiedRuns>()
  return async ({ receiver: name, state }) => {
    const receiver = deps.receivers.get(name)
    if (!receiver) return { kind: 'unknown' }
    const notified = byReceiver.get(name) ?? new NotifiedRuns()
    byReceiver.set(name, notified)
    const context = Context.current()
    const signal = AbortSignal.any([deps.stopping, context.cancellationSignal])
    const start = (context.info.heartbeatDetails as NotifierState | undefined) ?? state
    const round = new NotifyRound(deps, receiver, { state: start, notified, signal })
    const timeoutMs = context.info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs
    const beat = setInterval(() => context.heartbeat(round.state), timeoutMs / 3)
    try {
      await round.run()
    } finally {
      clearInterval(beat)
    }
    context.cancellationSignal.throwIfAborted()
    return { kind: 'notified', state: { ...round.state, recordedAt: Date.now() } }
  }
}
