import { forms, isOf } from '../text/forms.ts'
import { closedFor } from '../lane/view.ts'
import type { LaneId, LaneState } from '../lane/lane.ts'
import { printable } from '../text/printable.ts'
import type { Settings } from '../settings/settings.ts'
import type { StreamView } from '../stream/stream.ts'
import type { ChainName } from '../transfer/transfer.ts'
import type { NotificationData, NotificationSubject, NotificationType } from './notification.ts'

export interface Condition {
  /** `{source}/{name}`, unique among the present conditions. */
  readonly key: string
  readonly type: NotificationType
  readonly about: NotificationSubject
  readonly data: NotificationData
}

/** If `conditions` is absent, the source was not read, and its known conditions stay. */
export interface ConditionSource {
  readonly source: string
  readonly conditions?: readonly Condition[]
}

/**
 * Age at which a gap is reported, ms. Most gaps close earlier, because their blocks become final, or because the spy or
 * the guardians' APIs send the messages.
 */
export const gapAgeMs = 10 * 60_000

export function laneConditions(lane: LaneId, chain: ChainName, state: LaneState): readonly Condition[] {
  const about = { chains: [chain], lane }
  const closed = closedFor({ ...state, broke: undefined }, false)
  const found: Condition[] = []
  if (closed) {
    const { why, detail } = closed
    const by = 'by' in closed && closed.by !== undefined ? { by: printable(closed.by) } : {}
    found.push({ key: `lane/${lane}/closed`, type: 'lane.paused', about, data: { lane, chain, why, reason: printable(detail), ...by } })
  }
  if (state.broke) {
    const data = { lane, chain, reason: printable(state.broke.detail), balanceWei: state.observed?.balance }
    found.push({ key: `lane/${lane}/funds`, type: 'lane.funds_low', about, data })
  }
  return found
}

export function streamConditions({ stream, gaps, oldestGapAt }: StreamView, now: number, ageMs = gapAgeMs): readonly Condition[] {
  if (oldestGapAt === undefined || now - oldestGapAt < ageMs) return []
  const [bridge, source, target = ''] = stream.split(':')
  const chains = [source, target].filter((one): one is string => isOf(forms.name, one))
  const states = Object.entries(gaps).map(([state, count]) => `${count} ${state}`)
  const data = { stream: printable(stream), gaps: states.join(', '), oldestSince: new Date(oldestGapAt).toISOString() }
  return [{ key: `stream/${stream}/gap`, type: 'stream.gap', about: { chains, bridge }, data }]
}

export function haltConditions({ halts }: Pick<Settings, 'halts'>): readonly Condition[] {
  return halts.map(({ scope, by, reason, at }) => {
    const { bridge, chain, sourceChain, targetChain } = scope
    const chains = [chain, sourceChain, targetChain].filter((one) => one !== undefined)
    const about = { bridge, ...(chains.length > 0 && { chains }) }
    const since = new Date(at).toISOString()
    const shown = (name: string | undefined) => name && printable(name)
    // A forged scope may have more fields, so only the known fields are copied.
    const data = {
      ...{ bridge: shown(bridge), chain: shown(chain), sourceChain: shown(sourceChain), targetChain: shown(targetChain) },
      ...{ by: printable(by), reason: printable(reason), since },
    }
    // The same scope may be halted again between two readings, so the key contains the time.
    return { key: `settings/${[bridge, chain, sourceChain, targetChain].join('|')}/${at}`, type: 'settings.halted' as const, about, data }
  })
}
