import type { Worker } from '@temporalio/worker'
import { createNotify } from '../../activities/notify.ts'
import { guarded } from '../../activities/run-step.ts'
import { lanesOf } from '../../config/chains.ts'
import { type NotifierState, oldestUnsent, silentSince, waitingCount } from '../../domain/notification/notifier.ts'
import type { Receiver } from '../../domain/notification/notification.ts'
import { createConditionReader } from '../../operations/notifications/condition-reader.ts'
import { type NotifyTimes, notifyTimes } from '../../operations/notifications/notify-round.ts'
import { checkedSecret } from '../../operations/notifications/send.ts'
import { countNotified } from '../../temporal/client/settings/notified-transfers.ts'
import { problemOf } from '../../observability/severity.ts'
import { readNotifier, startNotifier } from '../../temporal/client/settings/notifiers.ts'
import { notificationQueue } from '../../temporal/contracts/notifier.ts'
import { poll, type Service } from '../../runtime/wait.ts'
import type { ProcessParts } from './context.ts'
import { createWorker, type Hosting, pollers } from '../process/create-worker.ts'

const keepMs = 15_000

interface NotificationOptions {
  readonly receivers: ReadonlyMap<string, Receiver>
  readonly times?: NotifyTimes
  readonly gapAgeMs?: number
  readonly keepMs?: number
}

type Parts = Pick<ProcessParts, 'config' | 'client' | 'logger' | 'metrics'>

export async function createNotificationWork(
  { config, client, logger, metrics }: Parts,
  hosting: Hosting,
  { receivers, times = notifyTimes, gapAgeMs, ...options }: NotificationOptions,
): Promise<{ worker: Worker; services: Service[] }> {
  checkSecrets(receivers, logger)
  const stopping = new AbortController()
  const { signal } = stopping
  const requiresEncryption = config.temporal.encryption?.required === true
  const conditions = createConditionReader({ client, lanes: lanesOf(config), everyMs: times.conditionsMs, gapAgeMs })
  const worker = await createWorker(hosting, 'AUTO_UPGRADE', {
    taskQueue: notificationQueue,
    activities: guarded({
      notify: createNotify({ client, conditions, metrics, logger, times, receivers, requiresEncryption, stopping: signal }),
    }),
    maxConcurrentActivityTaskExecutions: receivers.size,
    activityTaskPollerBehavior: pollers(1),
  })
  const kept = keepNotifiers({ client, logger, metrics }, [...receivers.values()], options.keepMs ?? keepMs, signal)
  const stop = () => {
    stopping.abort()
    return kept
  }
  return { worker, services: [{ stop }] }
}

function checkSecrets(receivers: ReadonlyMap<string, Receiver>, logger: Parts['logger']): void {
  for (const { name, secrets } of receivers.values()) {
    for (const [index, secret] of secrets.entries()) {
      try {
        checkedSecret(secret.read())
      } catch (error) {
        // The system's error names the file, but not its content.
        logger.error('a secret of a receiver cannot be used; the receiver gets no notifications until the secret is corrected', {
          code: 'RECEIVER_SECRET_UNUSABLE',
          ...{ receiver: name, place: index, reason: error instanceof Error ? error.message : 'unknown' },
        })
      }
    }
  }
}

function showState(metrics: Parts['metrics'], receiver: string, state: NotifierState): void {
  const oldest = oldestUnsent(state)
  metrics.portage_notification_oldest_unsent_seconds.set({ receiver }, oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1_000)
  for (const why of ['gone', 'ordered'] as const)
    metrics.portage_notification_receiver_disabled.set({ receiver, why }, state.disabled?.why === why ? 1 : 0)
}

function keepNotifiers(
  { client, logger, metrics }: Omit<Parts, 'config'>,
  receivers: readonly Receiver[],
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const failing = new Set<string>()
  const keepAll = async () => {
    for (const { name: receiver, filter } of receivers) {
      try {
        await startNotifier(client, receiver)
        const state = await readNotifier(client, receiver)
        if (state) {
          showState(metrics, receiver, state)
          // The count costs a query of the visibility store, so only stalled receivers are counted.
          const closed = silentSince(state, Date.now()) === undefined ? 0 : await countNotified(client, filter, state.cursor.seen + 1)
          metrics.portage_notifications_waiting.set({ receiver }, waitingCount(state, closed))
        }
        failing.delete(receiver)
      } catch (error) {
        if (!failing.has(receiver) && !signal.aborted)
          logger.warn('the notifier of a receiver could not be checked; trying again', {
            receiver,
            ...problemOf(error),
          })
        failing.add(receiver)
      }
    }
  }
  return poll(keepAll, { everyMs, signal })
}
