import { lanesOf } from '../../config/chains.ts'
import { receiverFilters } from '../../config/receivers.ts'
import type { Receiver } from '../../domain/notification/receiver.ts'
import { wantsSubject, wantsType, type Notification } from '../../domain/notification/notification.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Logger } from '../../observability/logger.ts'
import { idOf } from '../../operations/notifications/events.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { raiseNotification } from '../../temporal/client/settings/notifiers.ts'
import type { ProcessParts, Service } from './context.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** Of a limit: as the alert `PortageSpendingHigh` has it. */
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

/**
 * What a key has signed for is known to the process that holds it, and to no workflow. So this process tells the notifiers, by a signal, when it is near a limit:
 * once an hour or a day for each limit at most, under an id that every process with the key makes alike.
 */
export function startSpendingNotices(options: SpendingNoticeOptions): Service {
  const stopping = new AbortController()
  const { signal } = stopping
  const told = new Set<string>()
  const run = async () => {
    while (!signal.aborted) {
      for (const one of nearLimits(options, Date.now())) await tell(options, one, told)
      await delay(options.everyMs ?? everyMs, undefined, { signal }).catch(() => {})
    }
  }
  const ended = run()
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}

/** The same for the lanes of a process; nothing where nobody is to be told. */
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

/** @param now ms since the epoch */
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

async function tell({ client, receivers, logger }: SpendingNoticeOptions, one: SpendingNotice, told: Set<string>): Promise<void> {
  const about = { lane: one.lane, chains: [one.chain] }
  for (const { name, filter } of receivers) {
    const key = `${name}/${one.notification.id}`
    if (told.has(key) || !wantsSubject(filter, about)) continue
    try {
      await raiseNotification(client, name, one.notification)
      told.add(key)
      const [oldest] = told
      if (told.size > 1_000 && oldest !== undefined) told.delete(oldest)
    } catch (error) {
      // The next look tries it again.
      logger.debug('a notifier could not be told what a key has signed for', { receiver: name, reason: toRelayerError(error).message })
    }
  }
}
