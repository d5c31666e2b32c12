import { type ErrorCode, errorCatalogue } from '../../domain/catalogue/errors.ts'
import { orderLines } from '../../domain/order.ts'
import { mip61Of, isOutcome, type Transfer } from '../../domain/transfer/transfer.ts'
import { type TimelineEntry, timelineOf } from '../../domain/transfer/timeline.ts'
import { shellWord } from '../../domain/text/printable.ts'
import { code as asCode, foreign, paragraphs, timeText, workflowLink } from '../../domain/text/web-ui-text.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { TransferProgress } from '../../temporal/contracts/transfer.ts'

/** Maximum events shown. Low, because the Web UI puts the details into a URL. */
const linesShown = 20

export function detailsOf(
  transfer: Transfer,
  progress: TransferProgress,
  nextTryAt: number | undefined,
  { namespace, workflowId }: { readonly namespace: string; readonly workflowId: string },
): string {
  const { state, code, reason, lane, underway, timeline, transactions, orders } = progress
  const { bridge, sourceChain, targetChain, sequence } = transfer
  const mip61 = mip61Of({ bridge, state, code })
  const nonce = underway?.landed?.nonce ?? underway?.nonce
  const latest = joined(timeline).at(-1)
  const events = joined(timelineOf(timeline, transactions))
  const since = latest && latest.state === state ? ` since ${timeText(latest.since)}` : ''
  const about = [
    `${foreign(bridge)}: ${foreign(sourceChain)} → ${foreign(targetChain)}, sequence ${foreign(sequence)}`,
    lane && workflowLink(namespace, laneWorkflowId(lane), `lane ${lane}`),
    nonce !== undefined && `nonce ${nonce}`,
  ]
  return paragraphs(
    `**${state}**${code ? ` ${asCode(code)}` : ''}${since}`,
    mip61 && `MIP-61: **${mip61}**`,
    ...(code ? explained(code, reason) : []),
    !isOutcome(state) && commandsFor(progress, nextTryAt, workflowId),
    about.filter(Boolean).join(' · '),
    events.slice(-linesShown).toReversed().map(lineOf).join('\n'),
    orders && `Orders:\n\n${orderLines(orders).join('\n')}`,
  )
}

function explained(code: ErrorCode, reason: string | undefined): string[] {
  const { title, remedy } = errorCatalogue[code]
  return [`${title}${reason ? ` Here: ${foreign(reason)}` : ''}`, `**What to do:** ${foreign(remedy)}`]
}

function commandsFor({ state, code }: TransferProgress, nextTryAt: number | undefined, workflowId: string): string | undefined {
  const id = shellWord(workflowId) ?? '…'
  const command = (order: string, why: string) => asCode(`portage transfer ${order} ${id} --reason "${why}"`)
  const cancel = `- to end it: ${command('cancel', '…')}`
  if (state === 'parked') return `It waits for a person:\n\n- to try again: ${command('retry', 'the cause is gone')}\n${cancel}`
  if (state === 'waiting' || code)
    return `It tries again by itself${nextTryAt === undefined ? '' : ` at ${timeText(nextTryAt)}`}:\n\n- to try now: ${command('retry', 'the cause is gone')}\n${cancel}`
  if (state === 'pending' || state === 'broadcasting') return `- to raise its fee now: ${command('expedite', '…')}\n${cancel}`
  return undefined
}

interface Joined extends TimelineEntry {
  readonly since: number
  readonly times: number
}

export function joined(timeline: readonly TimelineEntry[]): Joined[] {
  const events: Joined[] = []
  for (const entry of timeline) {
    const tries = events.at(-1)?.state === 'admitting' ? 1 : 0
    const before = events.at(-1 - tries)
    const isAgain = before && before.state === 'waiting' && before.state === entry.state && before.note === entry.note
    if (isAgain) events.splice(-1 - tries, 1 + tries, { ...before, at: entry.at, times: before.times + 1 })
    else events.push({ ...entry, since: entry.at, times: 1 })
  }
  return events
}

function lineOf({ at, state, note, since, times }: Joined): string {
  const again = times > 1 ? ` (${times} times since ${timeText(since)})` : ''
  return `- ${timeText(at)} **${state}** ${foreign(note)}${again}`
}
