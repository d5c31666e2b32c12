import { createHash } from 'node:crypto'
import type { WorkflowExecutionInfo } from '@temporalio/client'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { LaneId } from '../../../domain/lane/lane.ts'
import { type KnownContent, shownContent } from '../../../domain/transfer/content.ts'
import { mip61Of, type Mip61State, isOutcome, type TransferState, transferStates } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { isRefusedArgument, rethrowAs } from '../connection/errors.ts'
import { listPage } from '../visibility/memos.ts'
import { closed, fromOrTo, quoted, running, transfersWith, undone } from './transfer-queries.ts'

export interface TransferRow extends KnownContent {
  readonly id: string
  /** `1.5`, or `1500000 raw units` if the token's decimals are unknown. */
  readonly tokenAmount?: string
  readonly state?: TransferState
  /** Only for the native bridge. The error code is ignored, so a reverted completion appears as initiated. */
  readonly mip61?: Mip61State
  readonly execution: string
  readonly bridge?: string
  readonly sourceChain?: string
  readonly targetChain?: string
  readonly lane?: string
  readonly txHash?: string
  readonly code?: string
  /** Start of the first run, ISO 8601. */
  readonly startedAt: string
  readonly closedAt?: string
  /** Profit of a delivered paid request, wei of the target. Only `withProfits` sets this field. */
  readonly profit?: string
}

export interface TransferFilter extends Partial<Pick<TransferRow, 'code' | 'bridge' | 'sourceChain' | 'targetChain' | 'txHash'>> {
  readonly states?: readonly TransferState[] | undefined
  readonly execution?: 'open' | 'closed' | 'undone' | undefined
  readonly chain?: string | undefined
  readonly lanes?: readonly LaneId[] | undefined
  readonly ids?: readonly string[] | undefined
  /** ms since the epoch. A transfer with an outcome is listed only if its last run also started before this time. */
  readonly startedBefore?: number | undefined
  readonly startedAfter?: number | undefined
}

const serverTimeoutMs = 10_000
const emptyPages = 5
/** ISO 8601. After a continue-as-new, the run's own start is later than the transfer's. */
export const startedAtMemo = 'startedAt'
/** Memo with a transfer's content, so that lists need no histories or chains. Workflows never read it. */
export const contentMemo = 'content'

/** Any page may be short, but only the last page lacks `next`. Throws INPUT_INVALID for a bad cursor. */
export async function listTransferPage(
  client: TemporalClient,
  filter: TransferFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly transfers: readonly TransferRow[]; readonly next?: string }> {
  if (isEmpty(filter)) return { transfers: [] }
  const query = queryOf(filter)
  const mark = markOf(filter)
  let token = cursor === undefined ? undefined : fromCursor(mark, cursor)
  for (let pages = 1; ; pages++) {
    const page = await within(client, serverTimeoutMs, () => listPage(client, { query, pageSize: limit, token })).catch(
      (error: unknown) => {
        throw isRefusedArgument(error) && cursor !== undefined ? unknownCursor() : rethrowAs({})(error)
      },
    )
    const transfers = distinct(page.runs.map(toRow).filter((row) => isOfAge(row, filter)))
    token = page.next
    const next = token && { next: `${mark}${Buffer.from(token).toString('base64url')}` }
    if (transfers.length > 0 || !token || pages >= emptyPages) return { transfers, ...next }
  }
}

export async function listTransfers(
  client: TemporalClient,
  { limit, ...filter }: TransferFilter & { readonly limit: number },
  isWanted: (row: TransferRow) => boolean = () => true,
): Promise<TransferRow[]> {
  let found: TransferRow[] = []
  let cursor: string | undefined
  do {
    const page = await listTransferPage(client, filter, { limit: Math.min(1_000, limit), cursor })
    found = distinct([...found, ...page.transfers.filter(isWanted)])
    cursor = page.next
  } while (cursor !== undefined && found.length < limit)
  return found.slice(0, limit)
}

export function stateOf({ typedSearchAttributes }: Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>): TransferState | undefined {
  return transferStates.find((one) => one === typedSearchAttributes.get(searchAttributes.TransferState))
}

export function toRow(info: Omit<WorkflowExecutionInfo, 'raw'>): TransferRow {
  const value = (name: keyof typeof searchAttributes) => info.typedSearchAttributes.get(searchAttributes[name])
  const state = stateOf(info)
  const bridge = value('Bridge')
  return {
    id: info.workflowId,
    state,
    mip61: state && mip61Of({ bridge: bridge ?? '', state }),
    execution: info.status.name,
    bridge,
    sourceChain: value('SourceChain'),
    targetChain: value('TargetChain'),
    lane: value('Lane'),
    txHash: value('TxHash'),
    code: value('PortageCode'),
    ...shownContent(info.memo?.[contentMemo]),
    startedAt: startOf(info),
    closedAt: info.closeTime?.toISOString(),
  }
}

/** Anyone can write a memo, so a memo with a time after the run's own start is ignored. */
function startOf({ memo, startTime }: Pick<WorkflowExecutionInfo, 'memo' | 'startTime'>): string {
  const kept = memo?.[startedAtMemo]
  const at = typeof kept === 'string' ? Date.parse(kept) : Number.NaN
  return new Date(at < startTime.getTime() && at > 0 ? at : startTime).toISOString()
}

function distinct(rows: readonly TransferRow[]): TransferRow[] {
  const byId = new Map<string, TransferRow>()
  for (const row of rows) if (!byId.has(row.id)) byId.set(row.id, row)
  return [...byId.values()]
}

function isEmpty({ states, lanes, ids }: TransferFilter): boolean {
  return [states, lanes, ids].some((any) => any?.length === 0)
}

/** The server compares only starts of runs, which may be later than the transfer's start. */
function isOfAge({ startedAt }: TransferRow, { startedBefore = Infinity, startedAfter = -Infinity }: TransferFilter): boolean {
  const at = Date.parse(startedAt)
  return at < startedBefore && at >= startedAfter
}

function queryOf(filter: TransferFilter): string {
  const { states, execution, code, bridge, chain, sourceChain, targetChain, lanes, ids, txHash, startedAfter, startedBefore } = filter
  const values = { Bridge: bridge, SourceChain: sourceChain, TargetChain: targetChain, TxHash: txHash }
  const conditions = [
    execution === undefined ? `ExecutionStatus != 'ContinuedAsNew'` : { open: running, closed, undone }[execution],
    ...(states ? [inStates(states)] : []),
    ...(code === undefined ? [] : [`PortageCode = ${quoted(code)}`]),
    ...fromOrTo(chain),
    ...(lanes ? [`Lane IN (${lanes.map(quoted).join(', ')})`] : []),
    ...(ids ? [`WorkflowId IN (${ids.map(quoted).join(', ')})`] : []),
    ...(startedAfter === undefined ? [] : [`StartTime >= '${new Date(startedAfter).toISOString()}'`]),
    // After a continue-as-new, only the memo has the start.
    ...(startedBefore === undefined ? [] : [`(StartTime < '${new Date(startedBefore).toISOString()}' OR ExecutionStatus != 'Completed')`]),
  ]
  return transfersWith(values, ...conditions)
}

/**
 * Compares outcomes only of completed runs and other states only of open runs, because a terminated run keeps its last
 * state.
 */
function inStates(states: readonly TransferState[]): string {
  const among = (wanted: readonly TransferState[], execution: string) =>
    wanted.length === 0 ? [] : [`(TransferState IN (${wanted.map(quoted).join(', ')}) AND ${execution})`]
  const open = states.filter((state) => !isOutcome(state))
  return `(${[...among(open, running), ...among(states.filter(isOutcome), `ExecutionStatus = 'Completed'`)].join(' OR ')})`
}

function fromCursor(mark: string, cursor: string): Uint8Array {
  const token = Buffer.from(cursor.slice(mark.length), 'base64url')
  if (cursor.startsWith(mark) && token.length > 0) return token
  throw unknownCursor()
}

/**
 * All cursors of a filter begin with this text. It leaves out times, because `--older-than` becomes a different time
 * for each page.
 */
function markOf({ startedBefore: _, startedAfter: __, ...filter }: TransferFilter): string {
  return createHash('sha256').update(queryOf(filter)).digest('hex').slice(0, 12)
}

function unknownCursor(): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail: 'cursor: it is not the `next` of a page with the same filter' })
}
