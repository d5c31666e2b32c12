import { sourceTitle } from '../../bridges/configured-emitters.ts'
import { sourceOf, type StreamReport, type StreamRow } from '../../intake/streams/reports.ts'
import { ageText } from '../../domain/text/age.ts'
import { countOutside, setOutside } from '../../domain/stream/outside-window.ts'
import { countNumbers, type IntervalSet } from '../../domain/stream/intervals.ts'
import type { OpenNumber, StreamState, StreamView } from '../../domain/stream/stream.ts'
import { shortStream } from '../../domain/text/short-id.ts'
import { facts, list, ordersSection, type Part, section, type Text, timeText } from './output.ts'

const oldHeadMs = 30_000

export function listText(rows: readonly StreamRow[]): Part {
  const cells = rows.map(toCells)
  const hasNotes = cells.some(({ notes }) => notes !== undefined)
  const wide = ['completed_block_height', ...(hasNotes ? [] : ['notes'])]
  const none = 'no streams: none has received a report yet (portage run --role intake)'
  return list(none, cells, { wide, short: { completed_nonce_height: 'watermark' } })
}

function toCells(row: StreamRow) {
  const known: Partial<StreamReport> = 'problem' in row ? {} : row
  const gaps = Object.entries(known.gaps ?? {}).map(([state, numbers]) => `${numbers} ${state}`)
  return {
    stream: { full: row.stream, short: shortStream(row.stream) },
    cursor: known.cursor,
    lag: known.lag,
    open: known.open,
    parked: known.parked,
    gaps: known.gaps && (gaps.join(', ') || '0'),
    completed_nonce_height: known.completedNumber,
    completed_block_height: known.completedHeight,
    notes: 'problem' in row ? row.problem : notesOf(row).join('; ') || undefined,
  }
}

function notesOf({ stream, alarms, paused, full, backfill, unproved, silentSince, asOf }: StreamReport): string[] {
  const silentMs = silentSince === undefined ? undefined : Date.parse(asOf) - Date.parse(silentSince)
  return [
    ...(silentMs === undefined ? [] : [`SILENT: no intake has reported for ${ageText(silentMs)}`]),
    ...(alarms.length > 0 ? [`ALARM ${alarms.join(', ')}`] : []),
    ...(paused ? [`paused by ${paused.by}: ${paused.reason}`] : full ? ['full: the cursor waits'] : []),
    ...(backfill.left > 0 ? [`backfill: ${backfill.left} blocks left`] : []),
    ...(unproved ? [`no node of ${sourceTitle(sourceOf(stream))}`] : []),
  ]
}

export function stateText(state: StreamState, report: StreamReport, now: number): Text {
  const { cursor, lag, next, open, parked, room, paused, full, backfill, targetHeight, alarms, counts, updatedAt } = report
  // Whether the stream reads blocks. Streams of Wormhole emitters, for example, do not.
  const scanned = cursor !== undefined || state.start !== undefined
  const orderedBy = state.backfill.by === undefined ? '' : `, ordered by ${state.backfill.by}`
  const head = facts({
    stream: report.stream,
    read: `${timeText(report.asOf)}Z${updatedAt === undefined ? '' : `, last updated ${age(updatedAt, now)} ago`}`,
    alarms: alarms.length > 0 ? alarms.join(', ') : 'none',
    paused: paused && `by ${paused.by} since ${age(paused.at, now)}: ${paused.reason}`,
    cursor:
      cursor === undefined
        ? scanned
          ? 'none: no block was scanned yet'
          : report.unproved
            ? 'none: its numbers are known from signed messages, no blocks are scanned'
            : 'none: its numbers are counted, no blocks are scanned'
        : `block ${cursor}${lag === undefined ? '' : `, ${lag} behind the finalized head${headText(report, now)}`}`,
    'next number': next,
    completed_nonce_height: report.completed_nonce_height ?? 'none yet',
    completed_block_height: report.completed_block_height ?? (scanned ? 'none yet' : 'none: see cursor'),
    'waits for': blockedText(report),
    open: `${open} of which ${parked} parked, room for ${room} more (${maxOpenText(report.maxOpen, now)})${full && !paused ? ': the cursor waits' : ''}`,
    'target followed to': targetHeight === undefined ? undefined : `block ${targetHeight}`,
    backfill: backfill.left === 0 ? 'nothing left' : `${backfill.left} of ${backfill.ordered} blocks left${orderedBy}`,
    ...counts,
  })
  const heading = `not proved, because the config has no node of ${sourceTitle(sourceOf(report.stream))}:`
  const unproved = report.unproved && [heading, ...report.unproved.map((one) => `  ${one}`)].join('\n')
  return [head, ...(unproved ? [unproved] : []), ...details(state, now)]
}

/**
 * The age of an old head, because the chain or every node may have stalled. Empty if the head is recent or not known.
 */
function headText({ headAt }: StreamReport, now: number): string {
  const headAgeMs = headAt === undefined ? 0 : now - Date.parse(headAt)
  return headAgeMs > oldHeadMs ? ` of ${ageText(headAgeMs)} ago` : ''
}

export function maxOpenText({ most, configured, ordered }: StreamView['maxOpen'], now?: number): string {
  if (!ordered) return `at most ${most}, as configured`
  const since = now === undefined ? '' : ` since ${age(ordered.at, now)}`
  return `at most ${most}, ordered by ${ordered.by}${since}; the config says ${configured}`
}

function blockedText({ blockedBy }: StreamView): string {
  if (!blockedBy) return 'nothing: every known number is resolved'
  const { number, why, code } = blockedBy
  return `${number}, ${why === 'open' ? 'under way' : why === 'parked' || why === 'waiting' ? `${why} (${code})` : `a gap: ${why}`}`
}

function details(state: StreamState, now: number): Part[] {
  const { gaps, open, exceptions, unknownCompletions, backfill, fork, vanished, distrusted } = state
  const parked = open.filter((one) => one.parked !== undefined)
  const running = open.filter((one) => one.parked === undefined)
  const outside = countOutside(state)
  return [
    fork && `forked: at block ${fork.height} the source shows ${fork.shown} where ${fork.known} was scanned, since ${age(fork.at, now)}`,
    vanished && `vanished: at block ${vanished.height} the source counts up to ${vanished.upTo} only, since ${age(vanished.at, now)}`,
    distrusted &&
      `distrusted: ${distrusted.by} gave ${distrusted.number}${distrusted.height === undefined ? '' : ` at block ${distrusted.height}`} as watermark ${age(distrusted.at, now)} ago, which is above what is known`,
    unknownCompletions.length > 0 &&
      `completed on the target and never seen at the source: ${unknownCompletions.map(rangeText).join(', ')}`,
    section(gaps, ({ from, to, state: why, code, chain, at, height }) => ({
      gap: rangeText([from, to]),
      numbers: String(countNumbers([[from, to]])),
      state: code === undefined ? why : `${why} (${code}${chain === undefined ? '' : ` of ${chain}`})`,
      'known for': age(at, now),
      'from block': height,
    })),
    section(outside, ({ count, why }) => ({
      'outside the window': why.waits ? 'waiting' : 'parked',
      numbers: String(count),
      code: why.code,
      ranges: rangesText(setOutside(why)),
    })),
    section(parked, ({ number, parked: code, height }) => ({ parked: number, code, block: height })),
    running.length > 0 && `under way: ${ranges(running).map(rangeText).join(', ')}`,
    section(exceptions, ({ number, outcome, by, reason, at }) => ({ exception: number, outcome, by, since: age(at, now), reason })),
    ordersSection(state.orders),
    backfill.left.length > 0 && `blocks to read: ${backfill.left.map(rangeText).join(', ')}`,
  ].flatMap((part) => part || [])
}

const shownRanges = 20

function rangesText(ranges: IntervalSet): string {
  const more = ranges.length - shownRanges
  return ranges.slice(0, shownRanges).map(rangeText).join(', ') + (more > 0 ? ` and ${more} more ranges` : '')
}

function ranges(open: readonly OpenNumber[]): [string, string][] {
  return open.reduce<[string, string][]>((found, { number }) => {
    const last = found.at(-1)
    if (last && BigInt(last[1]) + 1n === BigInt(number)) last[1] = number
    else found.push([number, number])
    return found
  }, [])
}

function rangeText([from, to]: readonly [string, string]): string {
  return from === to ? from : `${from}-${to}`
}

function age(at: number, now: number): string {
  return ageText(now - at)
}
