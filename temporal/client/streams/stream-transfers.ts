import type { Transfer, TransferState } from '../../../domain/transfer/transfer.ts'
import { groupBy } from '../../../domain/group-by.ts'
import { searchAttributes, transferIdParts } from '../../contracts/names.ts'
import { statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { stateOf } from '../transfers/transfer-list.ts'
import { quoted, running, transfersWith } from '../transfers/transfer-queries.ts'

/** Selects the transfers of a stream. Without `emitter`, selects those of all emitters. */
export interface StreamOfTransfers extends Pick<Transfer, 'bridge' | 'sourceChain'>, Partial<Pick<Transfer, 'targetChain' | 'emitter'>> {
  /** Wormhole chain id. If it is given, transfers whose source had another name in the config are selected too. */
  readonly emitterChain?: number | undefined
}

/** A transfer in the visibility store, which lags by about a second. */
export interface ListedTransfer {
  readonly number: string
  readonly id: string
  readonly runId: string
  /** `undone` means that the workflow closed without an outcome. */
  readonly state: TransferState | 'undone'
  readonly running: boolean
}

const parked = `(${running} AND ${searchAttributes.TransferState.name} = 'parked')`
const ended = (since: number) => `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`

export function runningTransfers(client: TemporalClient, of: StreamOfTransfers): Promise<ListedTransfer[]> {
  return list(client, of, running)
}

/** Waiting transfers whose run began before `startedBefore`, ms since the epoch. */
export function longWaiting(client: TemporalClient, of: StreamOfTransfers, startedBefore: number): Promise<ListedTransfer[]> {
  const waits = `${searchAttributes.TransferState.name} = 'waiting' AND StartTime <= '${new Date(startedBefore).toISOString()}'`
  return list(client, of, `(${running} AND ${waits})`)
}

/** Parked runs that began before `before` (epoch ms), newest first. The result of the last page has no `before`. */
export async function parkedPage(
  client: TemporalClient,
  of: StreamOfTransfers,
  most: number,
  before?: number,
): Promise<{ readonly listed: readonly ListedTransfer[]; readonly before?: number }> {
  const older = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`
  const runs = await listWorkflows(client, queryOf(of, `${parked}${older}`), { most })
  const oldest = runs.at(-1)?.startTime.getTime()
  const listed = listedOf(of, runs)
  if (runs.length < most || oldest === undefined) return { listed }
  // Adds 1 ms, because visibility times are finer than a millisecond.
  return { listed, before: Math.min(oldest + 1, (before ?? Infinity) - 1) }
}

/** `since`: ms since the epoch. */
export function undeliveredSince(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${ended(since)} AND ${searchAttributes.TransferState.name} IN ('rejected', 'declined', 'cancelled'))`)
}

/** Ended transfers, delivered or not. `since`: ms since the epoch. */
export function endedSince(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${ended(since)})`)
}

export async function statusOf(
  client: TemporalClient,
  { id, runId, running: isRunning }: { readonly id: string; readonly runId?: string; readonly running: boolean },
  timeoutMs?: number,
): Promise<TransferStatus> {
  const handle = client.workflow.getHandle(id, runId)
  const ask = async () => (isRunning ? handle.query(statusQuery) : ((await handle.result()) as TransferStatus))
  return timeoutMs === undefined ? ask() : within(client, timeoutMs, ask)
}

/** Whether the listed transfer is of this message. Another message may claim the same number. */
export function isOf({ id }: Pick<ListedTransfer, 'id'>, { digest }: Pick<Transfer, 'digest'>): boolean {
  return id.endsWith(`:${digest.slice(2, 18)}`)
}

/** A number may have several transfers, since strangers can start more. */
export function byNumber(listed: readonly ListedTransfer[]): ReadonlyMap<string, readonly ListedTransfer[]> {
  return groupBy(listed, ({ number }) => number)
}

async function list(client: TemporalClient, of: StreamOfTransfers, which: string): Promise<ListedTransfer[]> {
  return listedOf(of, await listWorkflows(client, queryOf(of, which)))
}

function queryOf(
  { bridge: Bridge, sourceChain, targetChain: TargetChain, emitter, emitterChain }: StreamOfTransfers,
  which: string,
): string {
  const fromChain = `${searchAttributes.SourceChain.name} = ${quoted(sourceChain)}`
  if (emitter === undefined || emitterChain === undefined) return transfersWith({ Bridge, TargetChain }, fromChain, which)
  const underNumber = `WorkflowId STARTS_WITH ${quoted(`${Bridge}:${emitterChain}:${emitter}:`)}`
  return transfersWith({ Bridge, TargetChain }, `(${fromChain} OR ${underNumber})`, which)
}

/** Leaves out runs that cannot be of the stream, since anyone with access to Temporal chooses ids and attributes. */
function listedOf(of: StreamOfTransfers, runs: Awaited<ReturnType<typeof listWorkflows>>): ListedTransfer[] {
  return runs.flatMap((run) => {
    const { workflowId: id, runId, status } = run
    const { bridge, emitter, sequence: number } = { ...transferIdParts(id) }
    if (number === undefined || bridge !== of.bridge || emitter !== (of.emitter ?? emitter)) return []
    const state = status.name === 'RUNNING' || status.name === 'COMPLETED' ? (stateOf(run) ?? 'admitting') : 'undone'
    return [{ number, id, runId, state, running: status.name === 'RUNNING' }]
  })
}
