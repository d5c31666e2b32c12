import type { Client } from '@temporalio/client'
import type { StreamRequest } from '../domain/stream/stream.ts'
import type { BridgeName, ChainName, Transfer, TransferState } from '../domain/transfer/transfer.ts'
import type { TransferStatus } from '../temporal/contracts/transfer.ts'
import { statusQuery } from '../temporal/contracts/transfer.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'

/** Whose transfers: of one numbered source. */
export interface StreamOfTransfers {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Absent: to all chains. */
  readonly targetChain?: ChainName | undefined
  /** 64 lower-case hex digits. Absent: of all. */
  readonly emitter?: string | undefined
}

/** How a transfer stands, by the word of the visibility store, which lags by a second or so. */
export interface Standing {
  readonly number: string
  /** Workflow id, and its latest run. */
  readonly id: string
  readonly runId: string
  /** `undone`: closed without an outcome. */
  readonly state: TransferState | 'undone'
  readonly running: boolean
}

const pageSize = 500
/** Longest reason that a stream takes (domain/stream/checks.ts). */
const longestReason = 1_000

/** All that run. Throws what the Temporal client throws. */
export function runningTransfers(client: Client, of: StreamOfTransfers): Promise<Standing[]> {
  return list(client, of, `ExecutionStatus = 'Running'`)
}

/** Those that are parked, and those that ended undelivered since then (ms since the epoch). Throws what the Temporal client throws. */
export function parkedAndUndelivered(client: Client, of: StreamOfTransfers, since: number): Promise<Standing[]> {
  const undelivered = `${searchAttributes.TransferState.name} IN ('rejected', 'declined', 'cancelled')`
  return list(client, of, `(${parked} OR (${ended(since)} AND ${undelivered}))`)
}

/** Those that are parked, and all that ended since then (ms since the epoch), delivered ones too. Throws what the Temporal client throws. */
export function parkedAndEnded(client: Client, of: StreamOfTransfers, since: number): Promise<Standing[]> {
  return list(client, of, `(${parked} OR (${ended(since)}))`)
}

const parked = `(ExecutionStatus = 'Running' AND ${searchAttributes.TransferState.name} = 'parked')`
const ended = (since: number) => `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`

/** The transfer's own word: the result of a closed one, the query of a running one. Throws what the Temporal client throws. */
export async function statusOf(
  client: Client,
  { id, runId, running }: { readonly id: string; readonly runId?: string; readonly running: boolean },
): Promise<TransferStatus> {
  const handle = client.workflow.getHandle(id, runId)
  return running ? handle.query(statusQuery) : ((await handle.result()) as TransferStatus)
}

/** What a stream is told of a transfer that ended undelivered; undefined: it did not. */
export function toClosed(number: string, status: TransferStatus): StreamRequest | undefined {
  const { state, reason, code, cancelledBy } = status
  if (state !== 'rejected' && state !== 'declined' && state !== 'cancelled') return undefined
  const why = (reason || code || state).slice(0, longestReason)
  return {
    kind: 'closed',
    number,
    outcome: state,
    reason: why,
    ...(state === 'cancelled' && { by: cancelledBy?.operator.trim() || 'unnamed' }),
  }
}

/** Whether a standing is that of this very message: another one may claim its number. */
export function isOf({ id }: Pick<Standing, 'id'>, { digest }: Pick<Transfer, 'digest'>): boolean {
  return id.endsWith(`:${digest.slice(2, 18)}`)
}

async function list(client: Client, of: StreamOfTransfers, which: string): Promise<Standing[]> {
  const { Bridge, SourceChain, TargetChain, TransferState: State } = searchAttributes
  // Names come from the config, which lets no quote into them.
  const query = [
    `WorkflowType = 'transfer'`,
    `${Bridge.name} = '${of.bridge}'`,
    `${SourceChain.name} = '${of.sourceChain}'`,
    ...(of.targetChain === undefined ? [] : [`${TargetChain.name} = '${of.targetChain}'`]),
    which,
  ].join(' AND ')
  const found: Standing[] = []
  for await (const { workflowId: id, runId, status, typedSearchAttributes } of client.workflow.list({ query, pageSize })) {
    // transferId: bridge:sourceChain:emitter:sequence:digest16
    const [, , emitter, number] = id.split(':')
    if (number === undefined || (of.emitter !== undefined && emitter !== of.emitter)) continue
    const running = status.name === 'RUNNING'
    const known = typedSearchAttributes.get(State) as TransferState | undefined
    const state = !running && status.name !== 'COMPLETED' ? 'undone' : (known ?? 'admitting')
    found.push({ number, id, runId, state, running })
  }
  return found
}
