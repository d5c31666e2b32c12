import { joinIntervals, setOf, singles, subtractNumbers, intersection, subtractIntervals, toSet } from '../../../domain/stream/intervals.ts'
import type { StreamRequest, StreamState, StreamView } from '../../../domain/stream/stream.ts'
import { type ListedTransfer, runningTransfers } from '../../../temporal/client/streams/stream-transfers.ts'
import { missingIn, seenRequests, withStatus } from '../number-status.ts'
import { runAll } from '../../../runtime/run-all.ts'
import { goBack } from './fork.ts'
import { numbersInGaps } from './fill-gaps.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { finalizedOf, nextHead, type ScannedContext, viewOf } from './context.ts'
import { intervalsOutside, outsideReason } from '../../../domain/stream/outside-window.ts'
import { isResolved, listsAllOrders } from '../../../domain/stream/numbers.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { closedRequests } from '../transfer-outcomes.ts'
import { numberOf, recordedTransfers, runOf, sortedByRun, splitByDelivery, startAgain, undelivered } from './transfers.ts'
import type { BlockRange, PlacedTransfer } from '../../../bridges/port.ts'
import { compare } from '../../../domain/stream/gaps.ts'
import { firstIn, heightOf } from '../../../domain/stream/places.ts'
import { inParts } from '../split-range.ts'

/**
 * Maximum wait (ms) for the scan to reach the counted block. If the scan is slower, the next audit checks the newest
 * numbers.
 */
const scanMs = 30_000

/**
 * Audits the cursor, the open and completed numbers, and the source's count or blocks. Throws the first failure. Audits
 * may overlap.
 */
export async function auditStream(context: ScannedContext): Promise<StreamAudit> {
  const { client, source, sourceChain, route } = context
  const audit: StreamAudit = { gaps: 0, completed: 0, started: 0, closed: 0, undone: 0 }
  await viewOf(context)
  await runAll(
    () => checkCursor(context),
    async () => {
      const running = await runningTransfers(client, source)
      await runAll(
        () => haltOnMismatch(context, route?.target, (at) => auditOpen(context, running, audit, at)),
        () => haltOnMismatch(context, route?.target, () => auditCompleted(context, running, audit)),
      )
    },
    async () => {
      if (route) return haltOnMismatch(context, sourceChain, () => count(context, audit))
      // Blocks are read again, because no contract counts the logs of a placed source.
      const view = await auditBlocks(context)
      if (view) Object.assign(audit, { height: (view.nextHeight ?? 0) - 1, gaps: missingIn(view) })
    },
  )
  return audit
}

/**
 * Goes back if the source denies the cursor. After a fork to a shorter chain, there is no next block, so the scan
 * cannot see the fork.
 */
async function checkCursor(context: ScannedContext): Promise<void> {
  const { cursor } = (await context.streamClient.state()) ?? {}
  if (cursor && (await context.sourceChain.denies(cursor))) await goBack(context)
}

async function count(context: ScannedContext, audit: StreamAudit): Promise<void> {
  const { streamClient, source, sourceChain, logger } = context
  const era = streamClient.era
  const before = await streamClient.state()
  if (!before) return
  const { first } = source.config
  const seen = BigInt(before.next) > BigInt(first) ? String(BigInt(before.next) - 1n) : undefined
  const at = finalizedOf(sourceChain)
  const upTo = (await source.highest(seen)) ?? (BigInt(first) > 0n ? String(BigInt(first) - 1n) : undefined)
  if (upTo === undefined) return
  const isTail = () => streamClient.view !== undefined && BigInt(upTo) >= BigInt(streamClient.view.next)
  // The count may include a later final block that is not scanned yet: its numbers must not become `hidden`.
  const height = isTail() ? await scannedUpTo(context) : at
  const state = await streamClient.state()
  if (!state || streamClient.era !== era) return
  const isScanned = state.cursor !== undefined && height <= state.cursor.height
  const tail =
    isScanned && BigInt(upTo) >= BigInt(state.next)
      ? { ...state, gaps: [...state.gaps, { from: state.next, to: upTo, state: 'hidden' as const, at: 0 }] }
      : state
  const numbers = numbersInGaps(tail, context.cursors.gaps)
  const table = await source.recorded(numbers, 'finalized')
  const present = setOf(numbers.filter((_, index) => table[index]))
  const request: StreamRequest = { kind: 'audited', upTo, height: isTail() ? height : at, present }
  const response = await streamClient.apply([request], era)
  if (!response) return
  Object.assign(audit, { upTo, height: request.height, gaps: missingIn(response.view) })
  if (!response.view.alarms.includes('vanished')) return
  const facts = { stream: source.config.stream, upTo }
  logger.error('the source counts fewer transfers than its logs; its blocks are read again', { code: 'SOURCE_COUNT_FELL', ...facts })
  await goBack(context, true)
}

async function scannedUpTo({ streamClient, sourceChain, stopping }: ScannedContext): Promise<number> {
  await nextHead(sourceChain, stopping)
  const height = finalizedOf(sourceChain)
  const until = performance.now() + scanMs
  while (!stopping.aborted && (streamClient.view?.nextHeight ?? 0) <= height && performance.now() < until) await streamClient.changed(1_000)
  return height
}

export interface StreamAudit {
  /**
   * The source's own count. Absent for a placed source, if the source has no number yet, or if its count could not be
   * read.
   */
  upTo?: string
  height?: number
  gaps: number
  /** `completed`: found delivered. `started`: started again. `closed`: had ended undelivered. */
  completed: number
  started: number
  closed: number
  undone: number
}

const readsAtOnce = 20
const mostResumed = 500

/**
 * Restarts lost transfers of open numbers (MIP-61's TIMEOUT). Restarts a transfer that closed as delivered only if two
 * blocks lack the delivery.
 */
export async function auditOpen(
  context: ScannedContext,
  running: readonly ListedTransfer[],
  audit: StreamAudit,
  at?: 'agreed',
): Promise<void> {
  const { client, streamClient, source, cache, cursors, logger } = context
  const era = streamClient.era
  const state = await streamClient.state()
  if (!state) return
  const ids = new Set(running.map(({ id }) => id))
  const runs = (number: string) => {
    const transfer = cache.transfer(number)
    return transfer !== undefined && ids.has(transferId(transfer))
  }
  // A stranger's run may claim the number of a lost transfer, so ids are compared too.
  const own = running.map(({ number }) => number).filter(runs)
  // `auditBlocks` finds out which numbers in condensed intervals of a placed stream are logs.
  const held = intervalsOutside(state, ({ condensed }) => !(condensed && source.config.placed)).flat()
  const outside = cursors.outside.take(subtractNumbers(joinIntervals(held), own), mostResumed)
  const numbers = [...state.open.map(({ number }) => number).filter((number) => !runs(number)), ...outside]
  if (numbers.length === 0) return
  const { delivered, missing } = await splitByDelivery(context, await recordedTransfers(context, numbers, at))
  const stopped = missing.filter((transfer) => !ids.has(transferId(transfer)))
  // A condensed number without a run may have been cancelled. The number counts as lost only if the stream still lists
  // all orders.
  const areOrdersKnown = listsAllOrders(state)
  const isLost = ({ sequence }: Transfer) => areOrdersKnown || outsideReason(state, sequence)?.condensed !== true
  const { again, ended } = await sortedByRun(context, stopped, isLost)
  const closed = await closedRequests(client, ended.map(runOf))
  const refused = (await mapLimited(again, readsAtOnce, (transfer) => startAgain(context, transfer))).flat()
  const started = again.filter(({ sequence }) => refused.every(({ number }) => number !== sequence))
  const seen = [...withStatus('delivered', delivered.map(numberOf)), ...withStatus('started', started.map(numberOf))]
  const requests = [...seenRequests(seen), ...refused, ...closed]
  if (requests.length > 0 && !(await streamClient.apply(requests, era))) return
  for (const { sequence } of delivered) cache.completed(sequence)
  audit.completed += delivered.length
  audit.started += started.length
  audit.closed += closed.length
  const lost = { stream: source.config.stream, count: started.length, lowest: started[0]?.sequence }
  if (lost.count > 0) logger.warn('open numbers had no workflow and are started again', { code: 'TRANSFERS_LOST', ...lost })
}

/**
 * Records resolved numbers as undone if the target lacks their deliveries. Checks the latest completions, and numbers
 * whose transfers run again.
 */
export async function auditCompleted(context: ScannedContext, running: readonly ListedTransfer[], audit: StreamAudit): Promise<void> {
  const { streamClient, source, cache, cursors, logger } = context
  const era = streamClient.era
  const state = await streamClient.state()
  if (!state) return
  const again = running.filter((one) => one.state !== 'parked' && isResolved(state, one.number)).map(({ number }) => number)
  const resumed = await recordedTransfers(context, cursors.resumed.take(singles(again), mostResumed))
  const latest = cache.completions.filter(({ sequence }) => isResolved(state, sequence))
  const all = [...new Map([...resumed, ...latest].map((transfer) => [transfer.sequence, transfer])).values()]
  const gone = await undelivered(context, (await splitByDelivery(context, all)).missing)
  if (gone.length === 0) return
  const numbers = setOf(gone.map(numberOf))
  if (!(await streamClient.apply([{ kind: 'undone', numbers }], era))) return
  for (const { sequence } of gone) cache.undone(sequence)
  audit.undone += gone.length
  const facts = { stream: source.config.stream, count: gone.length, lowest: numbers[0]?.[0] }
  logger.error('the target was reorganised below finality; deliveries are repeated', { code: 'EFFECT_UNDONE', ...facts })
}

const mostChecked = 500
/** Maximum intervals in a request. The stream rewrites its numbers outside the window for each of them. */
const mostIntervals = 1_000

/**
 * Reads the newest blocks of a placed source again, and older blocks in turn, because nodes may have left out a log.
 * Temporal deletes the runs of ended transfers, so blocks older than its retention are read only for condensed numbers.
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

function condensedIn(state: StreamState) {
  return joinIntervals(intervalsOutside(state, ({ condensed }) => condensed === true).flat())
}
