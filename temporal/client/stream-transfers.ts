import type { BridgeName, ChainName, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import { statusQuery, type TransferStatus } from '../contracts/transfer.ts'
import { type TemporalClient, within } from './client.ts'

/** The transfers of one numbered source. */
export interface StreamOfTransfers {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Absent: to all chains. */
  readonly targetChain?: ChainName | undefined
  /** 64 lower-case hex digits. Absent: of all. */
  readonly emitter?: string | undefined
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

const pageSize = 500

const parked = `(ExecutionStatus = 'Running' AND ${searchAttributes.TransferState.name} = 'parked')`
const ended = (since: number) => `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`

/** All that run. Throws what the Temporal client throws. */
export function runningTransfers(client: TemporalClient, of: StreamOfTransfers): Promise<ListedTransfer[]> {
  return list(client, of, `ExecutionStatus = 'Running'`)
}

/** Those that are parked, and those that ended undelivered since then (ms since the epoch). Throws what the Temporal client throws. */
export function parkedAndUndelivered(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  const undelivered = `${searchAttributes.TransferState.name} IN ('rejected', 'declined', 'cancelled')`
  return list(client, of, `(${parked} OR (${ended(since)} AND ${undelivered}))`)
}

/** Those that are parked, and all that ended since then (ms since the epoch), delivered ones too. Throws what the Temporal client throws. */
export function parkedAndEnded(client: TemporalClient, of: StreamOfTransfers, since: number): Promise<ListedTransfer[]> {
  return list(client, of, `(${parked} OR (${ended(since)}))`)
}

/** The status of one transfer: the result of a closed one, the query of a running one. Throws what the Temporal client throws. */
export async function statusOf(
  client: TemporalClient,
  { id, runId, running }: { readonly id: string; readonly runId?: string; readonly running: boolean },
  timeoutMs?: number,
): Promise<TransferStatus> {
  const handle = client.workflow.getHandle(id, runId)
  const ask = async () => (running ? handle.query(statusQuery) : ((await handle.result()) as TransferStatus))
  return timeoutMs === undefined ? ask() : within(client, timeoutMs, ask)
}

/** Whether this is the transfer of this very message: another message may claim its number. */
export function isOf({ id }: Pick<ListedTransfer, 'id'>, { digest }: Pick<Transfer, 'digest'>): boolean {
  return id.endsWith(`:${digest.slice(2, 18)}`)
}

async function list(client: TemporalClient, of: StreamOfTransfers, which: string): Promise<ListedTransfer[]> {
  const { Bridge, SourceChain, TargetChain, TransferState: State } = searchAttributes
  // Names come from the config, which allows no quote in them.
  const query = [
    `WorkflowType = 'transfer'`,
    `${Bridge.name} = '${of.bridge}'`,
    `${SourceChain.name} = '${of.sourceChain}'`,
    ...(of.targetChain === undefined ? [] : [`${TargetChain.name} = '${of.targetChain}'`]),
    which,
  ].join(' AND ')
  const found: ListedTransfer[] = []
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
