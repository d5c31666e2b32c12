import type { BlockRange, PlacedTransfer } from '../../../bridges/port.ts'
import { compare } from '../../../domain/stream/gaps.ts'
import {
  type Intervals,
  intersection,
  joinIntervals,
  setOf,
  singles,
  subtractIntervals,
  subtractNumbers,
  toSet,
} from '../../../domain/stream/intervals.ts'
import { isResolved } from '../../../domain/stream/numbers.ts'
import { intervalsOutside, outsideReason } from '../../../domain/stream/outside-window.ts'
import { firstIn, heightOf } from '../../../domain/stream/places.ts'
import type { StreamRequest, StreamState, StreamView } from '../../../domain/stream/stream.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { inParts } from '../split-range.ts'
import { sortedByRun } from './closed-transfers.ts'
import type { ScannedContext } from './context.ts'
import { numberOf, splitByDelivery } from './transfers.ts'

const mostChecked = 500
/** Maximum intervals in a request (domain/stream/request.ts). */
const mostIntervals = 1_000

/**
 * Reads blocks of a placed source again: the newest blocks, and older blocks in turn. A resolved number with neither a
 * delivery nor a run becomes a gap, because nodes may have left out its log, or its run may be lost. Temporal deletes
 * the runs of ended transfers, so blocks older than its retention are read only for condensed numbers.
 */
export async function auditBlocks(context: ScannedContext): Promise<StreamView | undefined> {
  const { streamClient, cursors, ranges, remembered } = context
  const state = await streamClient.state()
  if (!state?.cursor) return undefined
  const [last, size] = [state.cursor.height, ranges.source.blocks]
  const recent = Math.max(state.start ?? 0, await remembered())
  const newest = [BigInt(Math.max(recent, last - size + 1)), BigInt(last)] as const
  const condensed = condensedIn(state).map(([from, to]) => [BigInt(heightOf(from)), BigInt(heightOf(to))] as const)
  const older = subtractIntervals(joinIntervals([[BigInt(recent), BigInt(last)], ...condensed]), [newest])
  for (const [from, to] of [newest, ...singles(cursors.blocks.take(older, size))])
    if (from <= to) await auditRange(context, { fromBlock: Number(from), toBlock: Number(to) }, recent)
  return streamClient.view
}

async function auditRange(context: ScannedContext, range: BlockRange, recent: number): Promise<void> {
  const { streamClient, source, cache } = context
  const era = streamClient.era
  const placed = await inParts<PlacedTransfer>(range, (part) => source.initiated(part))
  const state = await streamClient.state()
  if (!state || streamClient.era !== era) return
  const isDue = (number: string) =>
    compare(number, state.first) >= 0 && (isResolved(state, number) || outsideReason(state, number)?.condensed === true)
  const due = placed.flatMap(({ transfer }) => (isDue(transfer.sequence) && !cache.settled.has(transferId(transfer)) ? [transfer] : []))
  const checked = due.slice(0, mostChecked)
  const { delivered, missing } = await splitByDelivery(context, checked)
  const { again, ended } = await sortedByRun(context, missing, ({ sequence }) => heightOf(sequence) >= recent)
  const over = [...delivered, ...ended]
  for (const transfer of over) cache.settled.set(transferId(transfer), true)
  const places = [[firstIn(range.fromBlock), firstIn(range.toBlock + 1) - 1n]] as const
  const held = subtractNumbers(singles(due.map(numberOf)), over.map(numberOf))
  const nothing = checked.length < due.length ? [] : subtractIntervals(intersection(condensedIn(state), places), held)
  const requests: StreamRequest[] = []
  if (again.length > 0) requests.push({ kind: 'audited', upTo: '0', height: range.toBlock, present: setOf(again.map(numberOf)) })
  if (nothing.length > 0) requests.push({ kind: 'seen', numbers: [], ignored: toSet(nothing.slice(0, mostIntervals)) })
  if (requests.length > 0) await streamClient.apply(requests, era)
}

function condensedIn(state: StreamState): Intervals {
  return joinIntervals(intervalsOutside(state, ({ condensed }) => condensed === true).flat())
}
