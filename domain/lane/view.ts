import { defined } from '../defined.ts'
import { inFlight, kept, unmined } from './entries.ts'
import type { Entry, LaneState } from './lane.ts'
import type { Closed, FillOrder, LaneView, RaiseOrder } from './messages.ts'

export function view(state: LaneState): LaneView {
  const { observed, era, counts, forgotten, republish } = state
  const { height, finalizedAt, lowestSince, final } = observed ?? {}
  return {
    synced: state.synced,
    next: state.next,
    latest: observed?.latest ?? 0,
    finalized: observed?.finalized ?? 0,
    window: state.config.window,
    inFlight: inFlight(state),
    external: counts.external,
    era,
    granted: counts.granted,
    ...defined({ height, finalizedAt, lowestSince, republish, closed: closedFor(state, false), final, forgotten }),
    ...kept(state),
  }
}

/**
 * Number of blocks for which a process has driven this nonce with its last attempt. 0 if unknown, or if the nonce is
 * not the lowest unmined one.
 */
export function blocksWaited({ nonce, sinceBlock, claimedBlock }: Entry, { latest, lowestSince }: LaneView): number {
  if (nonce !== latest || lowestSince === undefined) return 0
  return Math.max(0, claimedBlock - Math.max(lowestSince, sinceBlock))
}

export function closedFor({ paused, closing, broke, replaced }: LaneState, operatorTransaction: boolean): Closed | undefined {
  if (replaced) return { why: 'replaced', detail: `the chain denies block ${replaced.height} (${replaced.hash}), which was final` }
  if (closing && !(operatorTransaction && closing.mode === 'draining')) {
    return { why: closing.mode, detail: closing.reason, by: closing.by }
  }
  if (paused) return { why: 'paused', detail: paused.reason, pause: paused.kind, by: paused.by }
  return broke && { why: 'funds', detail: broke.detail }
}

/**
 * Orders to fill the nonces that no intent may use. Released and inherited nonces wait until `fillDueAt`, because they
 * may still be used.
 */
export function fillOrders(state: LaneState): FillOrder[] {
  if (state.replaced) return []
  const height = state.observed?.height ?? 0
  return unmined(state).flatMap((entry) => {
    const { nonce, fill: reason, attempts, owner, callHash = owner?.callHash, refusal } = entry
    if (reason === undefined || height < fillDueAt(entry, state.config.fillAfterBlocks)) return []
    return [{ nonce, reason, attempts, ...defined({ callHash, refusal }) }]
  })
}

export function raiseOrders(state: LaneState): RaiseOrder[] {
  if (state.replaced) return []
  return unmined(state).flatMap(({ nonce, raise, attempts }) => (raise && attempts.length <= raise.after ? [{ nonce, ...raise }] : []))
}

function fillDueAt(entry: Entry, fillAfterBlocks: number): number {
  if (entry.fill === 'released') return entry.sinceBlock + 1
  const drivenAt = entry.attempts.length === 0 ? entry.claimedBlock : 0
  if (entry.fill === 'inherited') return Math.max(entry.sinceBlock, drivenAt) + fillAfterBlocks
  return 0
}
