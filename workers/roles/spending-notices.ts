import { lanesOf } from '../../config/chains.ts'
import { receiverFilters } from '../../config/receivers.ts'
import { type Receiver, wantsSubject, wantsType, type Notification } from '../../domain/notification/notification.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Logger } from '../../observability/logger.ts'
import { idOf } from '../../operations/notifications/events.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { raiseNotification } from '../../temporal/client/settings/notifiers.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import type { ProcessParts } from './context.ts'
import { LRUCache } from 'lru-cache'

/** Share of a limit, as in the alert `PortageSpendingHigh`. */
const nearPercent = 80n
const everyMs = 15_000
const periodsMs: Readonly<Record<string, number>> = { hour: 3_600_000, day: 24 * 3_600_000 }

export interface SpendingNoticeOptions {
  readonly client: TemporalClient
  readonly receivers: readonly Pick<Receiver, 'name' | 'filter'>[]
  readonly lanes: readonly { readonly id: string; readonly chain: string }[]
  readonly agents: readonly Pick<LaneAgent, 'lane' | 'spending'>[]
  readonly logger: Logger
  readonly everyMs?: number
}

/** Notifies when a key is near a spending limit, once per limit and window: every process gives the same id. */
export function startSpendingNotices(options: SpendingNoticeOptions): Service {
  const notified = new LRUCache<string, true>({ max: 1_000 })
  const check = async () => {
    for (const one of nearLimits(options, Date.now())) await notify(options, one, notified)
  }
  return startPolling(check, { everyMs: options.everyMs ?? everyMs })
}

export function spendingNotices(
  { config, client, logger }: Pick<ProcessParts, 'config' | 'client' | 'logger'>,
  agents: readonly LaneAgent[],
): Service[] {
  const receivers = receiverFilters(config).filter(({ filter }) => wantsType(filter, 'lane.spending_high'))
  if (receivers.length === 0) return []
  const lanes = lanesOf(config).map(({ id, chain }) => ({ id, chain }))
  return [startSpendingNotices({ client, receivers, lanes, agents, logger })]
}

interface SpendingNotice {
  readonly notification: Notification
  readonly lane: string
  readonly chain: string
}

export function nearLimits({ lanes, agents }: Pick<SpendingNoticeOptions, 'lanes' | 'agents'>, now: number): readonly SpendingNotice[] {
  return agents.flatMap(({ lane, spending }) => {
    const chain = lanes.find(({ id }) => id === lane)?.chain ?? ''
    return spending.flatMap(({ window, spent, limit }) => {
      if (spent * 100n <= limit * nearPercent) return []
      const periodMs = periodsMs[window] ?? 3_600_000
      const id = idOf('lane.spending_high', lane, window, Math.floor(now / periodMs))
      const data = { lane, chain, window, spentWei: String(spent), limitWei: String(limit) }
      return [{ lane, chain, notification: { id, type: 'lane.spending_high' as const, at: now, data } }]
    })
  })
}

async function notify(
  { client, receivers, logger }: SpendingNoticeOptions,
  one: SpendingNotice,
  notified: LRUCache<string, true>,
): Promise<void> {
  const about = { lane: one.lane, chains: [one.chain] }
  for (const { name, filter } of receivers) {
    const key = `${name}/${one.notification.id}`
    if (notified.has(key) || !wantsSubject(filter, about)) continue
    try {
      await raiseNotification(client, name, one.notification)
      notified.set(key, true)
    } catch (error) {
      // The next check tries again.
      logger.debug('a notifier could not be notified of the spending of a key', { receiver: name, reason: toRelayerError(error).message })
    }
  }
}
