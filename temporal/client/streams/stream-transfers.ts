import { type BridgeName, type ChainName, type Transfer, type TransferState, transferStates } from '../../../domain/transfer/transfer.ts'
import { isU64 } from '../../../domain/stream/checks.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { quoted, running, transfersWith } from '../transfers/transfer-queries.ts'

/** The transfers of one numbered source. */
export interface StreamOfTransfers {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Absent: to all chains. */
  readonly targetChain?: ChainName | undefined
  /** 64 lower-case hex digits. Absent: of all. */
  readonly emitter?: string | undefined
  /**
   * Wormhole's number of the chain of the emitter. Its transfers are found by that, too: the config may have called
   * their source otherwise when they started.
   */
  readonly emitterChain?: number | undefined
}

/** A transfer as the visibility store has it, which lags by a second or so. */
export interface ListedTransfer {
  readonly number: string
  /** Workflow id, and its latest run. */
  readonly id: string
  readonly runId: string
  /** `undone`: closed without an outcome. */
  readonly state: TransferState | 'undone'
  readonly running: boolean
}

const parked = `(${running} AND ${searchAttributes.TransferState.name} = 'parked')`
const ended = (since: number) => `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`

/** All that run. Throws what the Temporal client throws. */
export function runningTransfers(client: TemporalClient, of: StreamOfTransfers): Promise<ListedTransfer[]> {
  return list(client, of, running)
}

/** Those that wait, of runs that began before then (ms since the epoch). Throws what the Temporal client throws. */
export function longWaiting(client: TemporalClient, of: StreamOfTransfers, startedBefore: number): Promise<ListedTransfer[]> {
  const waits = `${searchAttributes.TransferState.name} = 'waiting' AND StartTime <= '${new Date(startedBefore).toISOString()}'`
  return list(client, of, `(${running} AND ${waits})`)
}

/** Some of those that are parked. */
export interface ParkedPage {
  readonly listed: readonly ListedTransfer[]
  /** The next page is of those that began before then, ms since the epoch; absent: there is none. */
  readonly before?: number
}

/**
 * So many of those that are parked, the newest run first, which is the order of the visibility store; of runs that
 * began before then (ms since the epoch; absent: of all). Throws what the Temporal client throws.
 */
export async function parkedPage(client: TemporalClient, of: StreamOfTransfers, most: number, before?: number): Promise<ParkedPage> {
  const older = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`
  const runs = await listWorkflows(client, queryOf(of, `${parked}${older}`), { most })
  const oldest = runs.at(-1)?.startTime.getTime()
  const listed = listedOf(of, runs)
  if (runs.length < most || oldest === undefined) return { listed }
  // The store knows times more exactly than to a millisecond: those of the last one are read again.
  return { listed, before: Math.min(oldest + 1, (before ?? Infinity) - 1) }
}

/** Those that ended undelivered since then (ms since the epoch). Throws what the Temporal client throws. */
export function undeliveredSince(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${ended(since)} AND ${searchAttributes.TransferState.name} IN ('rejected', 'declined', 'cancelled'))`)
}

/** All that ended since then (ms since the epoch), delivered ones too. Throws what the Temporal client throws. */
export function endedSince(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${ended(since)})`)
}

/**
 * The status of one transfer: the result of a closed one, the query of a running one. Throws what the Temporal client
 * throws.
 */
export async function statusOf(
  client: TemporalClient,
  { id, runId, running: isRunning }: { readonly id: string; readonly runId?: string; readonly running: boolean },
  timeoutMs?: number,
): Promise<TransferStatus> {
  const handle = client.workflow.getHandle(id, runId)
  const ask = async () => (isRunning ? handle.query(statusQuery) : ((await handle.result()) as TransferStatus))
  return timeoutMs === undefined ? ask() : within(client, timeoutMs, ask)
}

/** Whether this is the transfer of this very message: another message may claim its number. */
export function isOf({ id }: Pick<ListedTransfer, 'id'>, { digest }: Pick<Transfer, 'digest'>): boolean {
  return id.endsWith(`:${digest.slice(2, 18)}`)
}

/** By their numbers, in the order of the list: strangers may have started others under a number. */
export function byNumber(listed: readonly ListedTransfer[]): ReadonlyMap<string, readonly ListedTransfer[]> {
  const runs = new Map<string, ListedTransfer[]>()
  for (const one of listed) {
    const others = runs.get(one.number)
    if (others) others.push(one)
    else runs.set(one.number, [one])
  }
  return runs
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

/**
 * Whoever reaches Temporal chooses the ids and search attributes of his runs: what no transfer of the stream can have
 * is left out.
 */
function listedOf(of: StreamOfTransfers, runs: Awaited<ReturnType<typeof listWorkflows>>): ListedTransfer[] {
  return runs.flatMap(({ workflowId: id, runId, status, typedSearchAttributes }) => {
    const number = numberIn(id, of)
    if (number === undefined) return []
    const known = transferStates.find((one) => one === typedSearchAttributes.get(searchAttributes.TransferState))
    const state = status.name === 'RUNNING' || status.name === 'COMPLETED' ? (known ?? 'admitting') : 'undone'
    return [{ number, id, runId, state, running: status.name === 'RUNNING' }]
  })
}

/**
 * The number in the id of a transfer of this stream (`transferId`: bridge:sourceId:emitter:sequence:digest16);
 * undefined: it is the id of none.
 */
function numberIn(id: string, { bridge, emitter }: StreamOfTransfers): string | undefined {
  const [ofBridge, sourceId, ofEmitter, number, digest = '', ...rest] = id.split(':')
  const isOfStream = ofBridge === bridge && sourceId && ofEmitter && (emitter === undefined || ofEmitter === emitter)
  return isOfStream && isU64(number) && /^[0-9a-f]{16}$/.test(digest) && rest.length === 0 ? number : undefined
}
