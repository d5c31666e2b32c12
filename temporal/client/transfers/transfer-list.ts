import { createHash } from 'node:crypto'
import type { WorkflowExecutionInfo } from '@temporalio/client'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { LaneId } from '../../../domain/lane/lane-id.ts'
import { mip61Of, type Mip61State } from '../../../domain/stream/mip61-state.ts'
import { isOutcome, type TransferState, transferStates } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { isRefusedArgument, rethrowAs } from '../connection/errors.ts'
import { listPage } from '../visibility/memos.ts'
import { fromOrTo, quoted, running, transfersWith, undone } from './transfer-queries.ts'

/** A transfer of the server's visibility store, read without a worker. */
export interface TransferRow {
  readonly id: string
  /** Absent until the workflow's first task. */
  readonly state?: TransferState
  /** For the native bridge. One whose completion reverted shows as initiated, since a list has no codes for it. */
  readonly mip61?: Mip61State
  /** Temporal's status: RUNNING, COMPLETED, or without an outcome TERMINATED, FAILED and so on. */
  readonly execution: string
  readonly bridge?: string
  readonly sourceChain?: string
  readonly targetChain?: string
  readonly lane?: string
  readonly txHash?: string
  /** Why it waits, is parked, or ended: a code of docs/reference/errors.md. */
  readonly code?: string
  /** Start of its first run, ISO 8601, as `closedAt`. */
  readonly startedAt: string
  readonly closedAt?: string
}

/** A selection of transfers. Every field narrows it. */
export interface TransferFilter {
  /** Any of these. Open states match running transfers, outcomes match ended ones. */
  readonly states?: readonly TransferState[] | undefined
  /** `undone`: closed without an outcome. */
  readonly execution?: 'open' | 'closed' | 'undone' | undefined
  /** Why it waits, is parked, or ended. */
  readonly code?: string | undefined
  readonly bridge?: string | undefined
  /** From or to this chain. */
  readonly chain?: string | undefined
  readonly sourceChain?: string | undefined
  readonly targetChain?: string | undefined
  /** Any of these. */
  readonly lanes?: readonly LaneId[] | undefined
  /** Any of these. */
  readonly ids?: readonly string[] | undefined
  /** Hash of its transaction in a block of the target chain. */
  readonly txHash?: string | undefined
  /**
   * ms since the epoch: the transfer began before `startedBefore`, and at or after `startedAfter`. For a transfer with
   * an outcome the last run too began before `startedBefore`.
   */
  readonly startedBefore?: number | undefined
  readonly startedAfter?: number | undefined
}

export interface TransferPage {
  /** Newest first, open ones before closed ones. A page may be short or empty, with more to come. */
  readonly transfers: readonly TransferRow[]
  /** Cursor of the next page. Absent: this is the last page. */
  readonly next?: string
}

/** Longest wait for the server, ms. */
const serverTimeoutMs = 10_000
/** Most pages without a match that one call skips. */
const emptyPages = 5
/** Key of the memo: start of the transfer, ISO 8601. After a continue-as-new the run's own start is later. */
export const startedAtMemo = 'startedAt'

/**
 * One page of transfers. Throws INPUT_INVALID (a cursor of another filter, or an invalid one), TEMPORAL_UNAVAILABLE.
 */
export async function listTransferPage(
  client: TemporalClient,
  filter: TransferFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<TransferPage> {
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
    const next = token && { next: toCursor(mark, token) }
    if (transfers.length > 0 || !token || pages >= emptyPages) return { transfers, ...next }
  }
}

/** Transfers, newest first, one row per id, at most `limit`. Throws TEMPORAL_UNAVAILABLE. */
export async function listTransfers(
  client: TemporalClient,
  { limit, state, ...filter }: TransferFilter & { readonly state?: TransferState | undefined; readonly limit: number },
): Promise<TransferRow[]> {
  const found: TransferRow[] = []
  let cursor: string | undefined
  do {
    const selected = state === undefined ? filter : { ...filter, states: [state] }
    const page = await listTransferPage(client, selected, { limit: Math.min(1_000, limit), cursor })
    found.push(...page.transfers)
    cursor = page.next
  } while (cursor !== undefined && found.length < limit)
  return distinct(found).slice(0, limit)
}

/** Converts a run to the row of its transfer. */
export function toRow(info: Omit<WorkflowExecutionInfo, 'raw'>): TransferRow {
  const value = (name: keyof typeof searchAttributes) => info.typedSearchAttributes.get(searchAttributes[name])
  const state = transferStates.find((one) => one === value('TransferState'))
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
    startedAt: startOf(info),
    closedAt: info.closeTime?.toISOString(),
  }
}

/** Anyone may write a memo, so only a time before the run's own start counts. */
function startOf({ memo, startTime }: Pick<WorkflowExecutionInfo, 'memo' | 'startTime'>): string {
  const kept = memo?.[startedAtMemo]
  const at = typeof kept === 'string' ? Date.parse(kept) : Number.NaN
  return new Date(at < startTime.getTime() && at > 0 ? at : startTime).toISOString()
}

/** An id has one run per start. The newest run comes first. */
function distinct(rows: readonly TransferRow[]): TransferRow[] {
  const byId = new Map<string, TransferRow>()
  for (const row of rows) if (!byId.has(row.id)) byId.set(row.id, row)
  return [...byId.values()]
}

function isEmpty({ states, lanes, ids }: TransferFilter): boolean {
  return [states, lanes, ids].some((any) => any?.length === 0)
}

/** The server compares starts of runs. The start of the transfer may be earlier. */
function isOfAge({ startedAt }: TransferRow, { startedBefore = Infinity, startedAfter = -Infinity }: TransferFilter): boolean {
  const at = Date.parse(startedAt)
  return at < startedBefore && at >= startedAfter
}

function queryOf(filter: TransferFilter): string {
  const { states, execution, code, bridge, chain, sourceChain, targetChain, lanes, ids, txHash, startedAfter, startedBefore } = filter
  const values = { Bridge: bridge, SourceChain: sourceChain, TargetChain: targetChain, TxHash: txHash }
  const conditions = [
    execution === undefined ? `ExecutionStatus != 'ContinuedAsNew'` : executions[execution],
    ...(states ? [inStates(states)] : []),
    ...(code === undefined ? [] : [`PortageCode = ${quoted(code)}`]),
    ...fromOrTo(chain),
    ...(lanes ? [`Lane IN (${lanes.map(quoted).join(', ')})`] : []),
    ...(ids ? [`WorkflowId IN (${ids.map(quoted).join(', ')})`] : []),
    ...(startedAfter === undefined ? [] : [`StartTime >= '${new Date(startedAfter).toISOString()}'`]),
    ...(startedBefore === undefined ? [] : [beganBefore(startedBefore)]),
  ]
  return transfersWith(values, ...conditions)
}

const executions = {
  open: running,
  closed: `ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`,
  undone,
} as const

/**
 * Only the memo has the start of a continued transfer. So the server filters by the start of the last run where it can,
 * for runs with an outcome, which are most. The others are checked one by one.
 */
function beganBefore(ms: number): string {
  return `(StartTime < '${new Date(ms).toISOString()}' OR ExecutionStatus != 'Completed')`
}

/** A terminated transfer keeps its last state, which does not count. */
function inStates(states: readonly TransferState[]): string {
  const among = (wanted: readonly TransferState[], execution: string) =>
    wanted.length === 0 ? [] : [`(TransferState IN (${wanted.map(quoted).join(', ')}) AND ${execution})`]
  const open = states.filter((state) => !isOutcome(state))
  return `(${[...among(open, running), ...among(states.filter(isOutcome), `ExecutionStatus = 'Completed'`)].join(' OR ')})`
}

/** The server's token, with a hash of the filter. */
function toCursor(mark: string, token: Uint8Array): string {
  return `${mark}${Buffer.from(token).toString('base64url')}`
}

function fromCursor(mark: string, cursor: string): Uint8Array {
  const token = Buffer.from(cursor.slice(mark.length), 'base64url')
  if (cursor.startsWith(mark) && token.length > 0) return token
  throw unknownCursor()
}

/** Without the times, since an age gives another time at each page. */
function markOf({ startedBefore: _, startedAfter: __, ...filter }: TransferFilter): string {
  return createHash('sha256').update(queryOf(filter)).digest('hex').slice(0, 12)
}

function unknownCursor(): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail: 'cursor: it is not the `next` of a page with the same filter' })
}
