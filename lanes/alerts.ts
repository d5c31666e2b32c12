import type { LaneView } from '../domain/lane/messages.ts'
import type { Logger } from '../observability/logger.ts'

/** Shares of the ledger's limit of nonces. Warns above the first, and again only after a fall below the second. */
const [warnAbove, overBelow] = [0.8, 0.7]

export type Alerts = ReturnType<typeof createAlerts>

export function createAlerts(logger: Logger) {
  let before: LaneView['closed']
  let external: number | undefined
  let externalHere = 0
  let isNearLimit = false

  function seeKept(kept: number, keptLimit: number): void {
    if (kept < keptLimit * overBelow) isNearLimit = false
    if (kept < keptLimit * warnAbove || isNearLimit) return
    isNearLimit = true
    const text =
      'the lane has nearly reached its limit of nonces that are not final; at the limit, it grants no nonces until some are final'
    logger.warn(text, { code: 'LANE_KEEPS_TOO_MANY', kept, keptLimit })
  }

  function logExternalUse(which: { nonces: number } | { nonce: number }): void {
    logger.error('the key of this lane is used outside Portage; the lane continues with other nonces', {
      code: 'KEY_USED_ELSEWHERE',
      ...which,
    })
  }

  function logClosed(now: LaneView['closed']): void {
    const reason = now?.detail
    if (now?.why === 'replaced') logger.error('the lane is halted: its chain was replaced', { code: 'LANE_CHAIN_REPLACED', reason })
    else if (now?.why === 'funds') logger.warn('the lane takes no new work until its account is funded', { code: 'LANE_FUNDS', reason })
    else if (now) logger.info(`the lane takes no new work: ${now.why}`, { reason })
    else if (before) logger.info('the lane takes work again')
  }

  return {
    external: () => (external ?? 0) + externalHere,
    usedExternally(nonce: number): void {
      externalHere += 1
      logExternalUse({ nonce })
    },
    see({ closed, external: counted, kept, keptLimit }: LaneView): void {
      seeKept(kept, keptLimit)
      if (closed?.why !== before?.why) logClosed(closed)
      before = closed
      const more = counted - (external ?? counted)
      external = counted
      if (more > 0) logExternalUse({ nonces: more })
    },
  }
}
