import { lanesOf } from '../../config/chains.ts'
import { receiverFilters } from '../../config/receivers.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { type Notification, type NotificationType, wantsSubject, wantsType } from '../../domain/notification/notification.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { idOf } from '../../operations/notifications/events.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import { raiseNotification } from '../../temporal/client/settings/notifiers.ts'
import type { ProcessParts } from './context.ts'
import { LRUCache } from 'lru-cache'

/** Percentage of a limit above which spending is reported, as in the alert `PortageSpendingHigh`. */
const nearPercent = 80n
const everyMs = 15_000
const periodsMs: Readonly<Record<string, number>> = { hour: 3_600_000, day: 24 * 3_600_000 }

type Spender = Pick<LaneAgent, 'lane' | 'spending'>

/**
 * Reports high spending. All processes use the same ids, so a receiver gets one notification per limit and period
 * (hour, day).
 */
export function spendingNotices(parts: Raising, agents: readonly Spender[]): Service[] {
  const raise = createRaise(parts, 'lane.spending_high')
  if (!raise) return []
  const lanes = lanesOf(parts.config)
  const check = async () => {
    for (const { lane, chain, notification } of nearLimits({ lanes, agents }, Date.now())) await raise({ lane, chain }, notification)
  }
  return [startPolling(check, { everyMs })]
}

type Raising = Pick<ProcessParts, 'config' | 'client' | 'logger'>

/** Returns a function that notifies receivers once per id, and logs errors. Undefined if no receiver wants the type. */
export function createRaise({ config, client, logger }: Raising, type: NotificationType) {
  const receivers = receiverFilters(config).filter(({ filter }) => wantsType(filter, type))
  if (receivers.length === 0) return undefined
  const notified = new LRUCache<string, true>({ max: 1_000 })
  return async ({ lane, chain }: { readonly lane: LaneId; readonly chain: ChainName }, notification: Notification): Promise<void> => {
    for (const { name, filter } of receivers) {
      const key = `${name}/${notification.id}`
      if (notified.has(key) || !wantsSubject(filter, { lane, chains: [chain] })) continue
      try {
        await raiseNotification(client, name, notification)
        notified.set(key, true)
      } catch (error) {
        logger.debug('a notifier could not be notified', { receiver: name, type, reason: toRelayerError(error).message })
      }
    }
  }
}

export function nearLimits(
  { lanes, agents }: { readonly lanes: readonly { readonly id: string; readonly chain: string }[]; readonly agents: readonly Spender[] },
  now: number,
) {
  return agents.flatMap(({ lane, spending }) => {
    const chain = lanes.find(({ id }) => id === lane)?.chain ?? ''
    return spending.flatMap(({ kind, window, spent, limit }) => {
      if (spent * 100n <= limit * nearPercent) return []
      const periodMs = periodsMs[window] ?? 3_600_000
      const id = idOf('lane.spending_high', lane, kind, window, Math.floor(now / periodMs))
      const data = { lane, chain, kind, window, spentWei: String(spent), limitWei: String(limit) }
      return [{ lane, chain, notification: { id, type: 'lane.spending_high' as const, at: now, data } }]
    })
  })
}
