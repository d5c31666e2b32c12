import { backoffMs } from '../../../domain/backoff.ts'
import { type Interval, joinIntervals } from '../../../domain/stream/intervals.ts'
import { gapAt } from '../../../domain/stream/gaps.ts'
import { room } from '../../../domain/stream/numbers.ts'
import type { GapState, StreamState } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { type AuditCursor, createAuditCursor } from '../audit-cursor.ts'
import type { Step } from '../loop.ts'
import { seenRequests, withStatus } from '../number-status.ts'
import { type ScannedContext, viewOf } from './context.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { numberOf, recordedTransfers, splitByDelivery, startAgain, startAll } from './transfers.ts'

const mostNumbers = 500
const restartsAtOnce = 20
const again = { firstMs: 2_000, mostMs: 60_000 } as const

/**
 * Starts the transfers of gaps. During a backfill, only those of `undone` and `hidden` gaps, which a backfill does not
 * fill.
 */
export function createGapFiller(context: ScannedContext): Step {
  const { streamClient, sourceChain } = context
  const cursor = createAuditCursor()
  let last = { gaps: '', tries: 0, dueAt: 0 }
  return async function fillGaps() {
    const view = await viewOf(context)
    if (view.paused || Object.keys(view.gaps).length === 0 || view.room === 0) return false
    const gaps = JSON.stringify([view.gaps, view.oldestGapAt, view.backfill.left > 0])
    if (gaps !== last.gaps) last = { gaps, tries: 0, dueAt: 0 }
    if (performance.now() < last.dueAt) return false
    last = { gaps, tries: last.tries + 1, dueAt: performance.now() + backoffMs(last.tries, again.firstMs, again.mostMs) }
    const era = streamClient.era
    const state = await streamClient.state()
    if (!state || streamClient.era !== era) return false
    const numbers = numbersInGaps(state, cursor, state.backfill.left.length > 0 ? ['hidden', 'undone'] : undefined)
    if (numbers.length === 0) return false
    return (await haltOnMismatch(context, sourceChain, (at) => fill(context, state, numbers, era, at))) === true
  }
}

async function fill(context: ScannedContext, state: StreamState, numbers: readonly string[], era: number, at?: 'agreed'): Promise<boolean> {
  const table = await recordedTransfers(context, numbers, at)
  const nothing = await absentPlaces(context, numbers, table)
  const { delivered, missing } = await splitByDelivery(context, table)
  const started = missing.slice(0, room(state))
  const found = [...delivered, ...started]
  if (found.length + nothing.length === 0) return false
  const isUndone = ({ sequence }: Transfer) => gapAt(state.gaps, BigInt(sequence))?.state === 'undone'
  const isHidden = (transfer: Transfer) => !isUndone(transfer)
  const refused = [await startAll(context, started.filter(isHidden))]
  // The submitter does not restart an undone transfer, because its workflow closed as delivered.
  refused.push(...(await mapLimited(started.filter(isUndone), restartsAtOnce, (transfer) => startAgain(context, transfer))))
  const seen = [
    ...withStatus('delivered', delivered.map(numberOf)),
    ...withStatus('started', started.map(numberOf)),
    ...withStatus('ignored', nothing),
  ]
  const response = await context.streamClient.apply([...seenRequests(seen), ...refused.flat()], era)
  report(context, found.filter(isUndone).length, found.filter(isHidden))
  return response?.answers[0]?.kind === 'done' && found.length + nothing.length < numbers.length && response.view.room > 0
}

/** Numbers whose place in a final block has no log. An operator may have named such a number. */
async function absentPlaces({ source }: ScannedContext, numbers: readonly string[], table: readonly Transfer[]) {
  const known = new Set(table.map(numberOf))
  const unknown = source.config.placed ? numbers.filter((number) => !known.has(number)) : []
  const again = unknown.length > 0 ? await source.recorded(unknown, 'agreed') : []
  return unknown.filter((_, index) => again[index] === undefined)
}

function report({ source, logger }: ScannedContext, again: number, hidden: readonly Transfer[]): void {
  const { stream } = source.config
  if (again > 0) logger.warn('transfers that were undone are started again', { code: 'EFFECT_UNDONE', stream, count: again })
  const facts = { stream, count: hidden.length, lowest: hidden[0]?.sequence }
  if (facts.count > 0) logger.error('a node hides logs of transfers; the transfers are delivered anyway', { code: 'LOGS_HIDDEN', ...facts })
}

export function numbersInGaps({ gaps }: Pick<StreamState, 'gaps'>, cursor: AuditCursor, states?: readonly GapState[]): readonly string[] {
  const wanted = gaps.filter(({ state }) => !states || states.includes(state))
  return cursor.take(joinIntervals(wanted.map(({ from, to }): Interval => [BigInt(from), BigInt(to)])), mostNumbers)
}
