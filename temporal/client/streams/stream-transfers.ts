import type { BridgeName, Transfer, TransferState } from '../../../domain/transfer/transfer.ts'
import { groupBy } from '../../../domain/group-by.ts'
import { searchAttributes, transferIdParts } from '../../contracts/names.ts'
import { statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { stateOf } from '../transfers/transfer-list.ts'
import { quoted, running, transfersWith } from '../transfers/transfer-queries.ts'

export interface StreamOfTransfers extends Pick<Transfer, 'bridge' | 'sourceChain'>, Partial<Pick<Transfer, 'targetChain' | 'emitter'>> {
  /** Bridges whose transfers may belong to the stream. Absent: only `bridge`. */
  readonly owners?: readonly BridgeName[] | undefined
  /** Wormhole chain id. With it, the list also has transfers whose source had another name in an earlier config. */
  readonly emitterChain?: number | undefined
}

export interface ListedTransfer {
  readonly number: string
  readonly id: string
  readonly runId: string
  readonly state: TransferState | 'undone'
  readonly running: boolean
}

const ended = (since: number) => `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`

export function runningTransfers(client: TemporalClient, of: StreamOfTransfers): Promise<ListedTransfer[]> {
  return list(client, of, running)
}

/** Lists runs that began before `before` (ms since the epoch), newest first. The last page has no `before`. */
type Page = (
  client: TemporalClient,
  of: StreamOfTransfers,
  most: number,
  before?: number,
) => Promise<{ readonly listed: readonly ListedTransfer[]; readonly before?: number }>

export const parkedPage: Page = (...of) => page('parked', ...of)
export const waitingPage: Page = (...of) => page('waiting', ...of)

async function page(state: 'parked' | 'waiting', ...[client, of, most, before]: Parameters<Page>): ReturnType<Page> {
  const isHeld = `(${running} AND ${searchAttributes.TransferState.name} = '${state}')`
  const older = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`
  const runs = await listWorkflows(client, queryOf(of, `${isHeld}${older}`), { most })
  const oldest = runs.at(-1)?.startTime.getTime()
  const listed = listedOf(of, runs)
  if (runs.length < most || oldest === undefined) return { listed }
  // Temporal's times are more precise than ms, so 1 ms is added.
  return { listed, before: Math.min(oldest + 1, (before ?? Infinity) - 1) }
}

export function undeliveredSince(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${ended(since)} AND ${searchAttributes.TransferState.name} IN ('rejected', 'declined', 'cancelled'))`)
}

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

/** Compares the digests, because another message may claim the same number. */
export function isOf({ id }: Pick<ListedTransfer, 'id'>, { digest }: Pick<Transfer, 'digest'>): boolean {
  return id.endsWith(`:${digest.slice(2, 18)}`)
}

/** A number may have several transfers, because strangers can start some. */
export function byNumber(listed: readonly ListedTransfer[]): ReadonlyMap<string, readonly ListedTransfer[]> {
  return groupBy(listed, ({ number }) => number)
}

async function list(client: TemporalClient, of: StreamOfTransfers, which: string): Promise<ListedTransfer[]> {
  return listedOf(of, await listWorkflows(client, queryOf(of, which)))
}

function queryOf(of: StreamOfTransfers, which: string): string {
  const { bridge: own, owners = [own], sourceChain, targetChain: TargetChain, emitter, emitterChain } = of
  const isOwned = `${searchAttributes.Bridge.name} IN (${owners.map(quoted).join(', ')})`
  const fromChain = `${searchAttributes.SourceChain.name} = ${quoted(sourceChain)}`
  if (emitter === undefined || emitterChain === undefined) return transfersWith({ TargetChain }, isOwned, fromChain, which)
  const underNumber = owners.map((bridge) => `WorkflowId STARTS_WITH ${quoted(`${bridge}:${emitterChain}:${emitter}:`)}`)
  return transfersWith({ TargetChain }, isOwned, `(${[fromChain, ...underNumber].join(' OR ')})`, which)
}

/**
 * Leaves out runs whose ids do not belong to the stream: anyone with access to Temporal can choose ids and attributes.
 */
function listedOf(of: StreamOfTransfers, runs: Awaited<ReturnType<typeof listWorkflows>>): ListedTransfer[] {
  const { bridge: own, owners = [own] } = of
  return runs.flatMap((run) => {
    const { workflowId: id, runId, status } = run
    const { bridge, emitter, sequence: number } = { ...transferIdParts(id) }
    if (bridge === undefined || number === undefined || !owners.includes(bridge) || emitter !== (of.emitter ?? emitter)) return []
    const state = status.name === 'RUNNING' || status.name === 'COMPLETED' ? (stateOf(run) ?? 'admitting') : 'undone'
    return [{ number, id, runId, state, running: status.name === 'RUNNING' }]
  })
}
