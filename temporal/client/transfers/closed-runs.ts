import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { ChainName, Transfer, TransferState } from '../../../domain/transfer/transfer.ts'
import { searchAttributes, transferId } from '../../contracts/names.ts'
import { type Reversal, reversalId } from '../../contracts/reversal.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { readRetentionHours } from '../connection/namespace-setup.ts'
import { fromTemporal, ifGone, isForAll, isGone, isMissing, isOfServer, rethrowAs } from '../connection/errors.ts'
import type { NotifiedTransfer } from '../settings/notified-transfers.ts'
import { listPage } from '../visibility/memos.ts'
import type { RunId } from '../visibility/runs.ts'
import { storedTransfer } from './start-transfer.ts'
import { stateOf } from './transfer-list.ts'
import { transfersWith, undone } from './transfer-queries.ts'

/** A closed run that did not continue as new. */
export interface ClosedRun extends RunId {
  /** Temporal's status: COMPLETED or, without an outcome, TERMINATED, FAILED and so on. */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly closedAt: string
}

/** Contents of a history. Anyone with access to Temporal can write anything there. */
export interface ClosedTransfer {
  /** Undefined: unreadable. */
  readonly transfer: unknown
  /** Undefined: none, or unreadable. */
  readonly result: unknown
  readonly unreadable?: ErrorCode
}

export interface ClosedPage {
  kind: 'delivered' | 'undone'
  chain: ChainName
  /** The page lists runs that closed between these two times, ms since the epoch. */
  from: number
  to: number
  /** The server's page token. Empty for the first page, and after the last one. */
  token: string
}

const pageSize = 200
const timeoutMs = 30_000

/** Runs are in the server's order, since a dev server has no ORDER BY. */
export async function listClosedPage(client: TemporalClient, page: ClosedPage): Promise<{ runs: RunId[]; token: string }> {
  const { kind, chain, from, to, token } = page
  const query = transfersWith(
    { TargetChain: chain, TransferState: kind === 'delivered' ? 'delivered' : undefined },
    kind === 'delivered' ? `ExecutionStatus = 'Completed'` : undone,
    `CloseTime >= '${new Date(from).toISOString()}' AND CloseTime <= '${new Date(to).toISOString()}'`,
  )
  const { runs, next } = await listPage(client, { query, pageSize, token: Buffer.from(token, 'base64') })
  return { runs: runs.map(({ workflowId, runId }) => ({ workflowId, runId })), token: Buffer.from(next ?? []).toString('base64') }
}

/** Describes the workflow, since the visibility store lags. */
export async function latestRun(client: TemporalClient, id: string): Promise<'running' | 'undone' | TransferState | 'gone'> {
  const run = await client.workflow.getHandle(id).describe().catch(ifGone(undefined))
  if (!run) return 'gone'
  if (run.status.name === 'RUNNING' || run.status.name === 'CONTINUED_AS_NEW') return 'running'
  if (run.status.name !== 'COMPLETED') return 'undone'
  return stateOf(run) ?? 'gone'
}

/** Runs closed in [from, to), ms since the epoch, sorted by closing time. Throws errors of `fromTemporal`. */
export async function listClosedRuns(client: TemporalClient, from: number, to: number): Promise<ClosedRun[]> {
  const [first, end] = [from, to].map((at) => new Date(at).toISOString())
  const query = transfersWith(
    {},
    `ExecutionStatus IN ('Completed', 'Failed', 'Terminated', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${first}' AND CloseTime < '${end}'`,
  )
  const runs = await listWorkflows(client, query, { pageTimeoutMs: timeoutMs }).catch(rethrowAs({}))
  return runs
    .flatMap(({ workflowId, runId, status, startTime, closeTime }) =>
      closeTime
        ? [{ workflowId, runId, execution: status.name, startedAt: startTime.toISOString(), closedAt: closeTime.toISOString() }]
        : [],
    )
    .toSorted((a, b) => (`${a.closedAt} ${a.runId}` < `${b.closedAt} ${b.runId}` ? -1 : 1))
}

/** Undefined: the server deleted the run. Throws errors of `fromTemporal`, but none for unreadable contents. */
export async function readClosedRun(
  client: TemporalClient,
  { workflowId, runId, execution }: Pick<ClosedRun, 'workflowId' | 'runId' | 'execution'>,
): Promise<ClosedTransfer | undefined> {
  const result = () => client.workflow.getHandle(workflowId, runId, { followRuns: false }).result() as Promise<unknown>
  try {
    return await within(client, timeoutMs, async () => {
      const [transfer, ended] = await Promise.all([
        unlessUnreadable(storedTransfer(client, workflowId, runId)),
        unlessUnreadable(execution === 'COMPLETED' ? result() : Promise.resolve(undefined)),
      ])
      // An input that no key opens makes the run unreadable. An input that is no transfer does not.
      const unreadable = ended.code ?? (transfer.code?.startsWith('ENCRYPTION_') ? transfer.code : undefined)
      return { transfer: transfer.value, result: ended.value, ...(unreadable && { unreadable }) }
    })
  } catch (error) {
    if (isGone(error) || isMissing(error)) return undefined
    throw fromTemporal(error, {}, { transfer: workflowId })
  }
}

/** Throws errors of the server. For an error of codec or converter, returns its code. */
function unlessUnreadable(reading: Promise<unknown>): Promise<{ readonly value?: unknown; readonly code?: ErrorCode }> {
  return reading.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (isOfServer(error)) throw error
      return { code: toRelayerError(error).code }
    },
  )
}

/** Throws errors of `fromTemporal`. */
export function retentionHours(client: TemporalClient): Promise<number> {
  return within(client, timeoutMs, () => readRetentionHours(client, client.options.namespace)).catch(rethrowAs({}))
}

/** `same`: as listed. `unread`: unreadable or gone. `foreign`: not as listed, or not encrypted although required. */
export type RunProof = 'same' | 'unread' | 'foreign'

const proofTimeoutMs = 10_000
/** A reversal's run exists at least this long after the record, ms, because servers keep closed runs for days. */
const keptMs = 3_600_000

/** Compares a listed transfer with its history. Makes two or three calls. Throws errors of `fromTemporal`. */
export async function proofOf(
  client: TemporalClient,
  listed: Pick<NotifiedTransfer, 'kind' | 'id' | 'runId' | 'txHash' | 'at'>,
): Promise<RunProof> {
  const { kind, id, runId: run } = listed
  if (kind === 'parked') return 'unread'
  const record = kind === 'reversed' ? await recordProof(client, { transfer: id, run }) : 'same'
  if (record !== 'same') return record
  const described = await within(client, proofTimeoutMs, () => client.workflow.getHandle(id, run).describe()).catch(ifGone(undefined))
  // When a receiver is notified late, the server may have deleted the run already.
  if (!described) return kind === 'reversed' && Date.now() - listed.at < keptMs ? 'foreign' : 'unread'
  const { type, status, typedSearchAttributes: attributes } = described
  // The server may have been restored from a copy that is older than its visibility store.
  if (kind === 'delivered' && type === 'transfer' && status.name === 'RUNNING') return 'unread'
  const isDelivered = type === 'transfer' && status.name === 'COMPLETED' && attributes.get(searchAttributes.TransferState) === 'delivered'
  if (!isDelivered || attributes.get(searchAttributes.TxHash) !== listed.txHash) return 'foreign'
  return proofIn(await readClosedRun(client, { workflowId: id, runId: run, execution: 'COMPLETED' }), (ended) => {
    const { state } = Object(ended.result) as Partial<TransferStatus>
    const { digest, ...transfer } = Object(ended.transfer) as Partial<Transfer>
    return state === 'delivered' && typeof digest === 'string' && transferId({ ...(transfer as Transfer), digest }) === id
  })
}

/** Checks the record of a reversal, whose result equals its input. */
async function recordProof(client: TemporalClient, { transfer, run }: Reversal): Promise<RunProof> {
  const workflowId = reversalId({ transfer, run })
  const described = await within(client, proofTimeoutMs, () => client.workflow.getHandle(workflowId).describe()).catch(ifGone(undefined))
  if (!described) return 'unread'
  return proofIn(await readClosedRun(client, { workflowId, runId: described.runId, execution: 'COMPLETED' }), ({ result }) => {
    const said = Object(result) as Partial<Reversal>
    return said.transfer === transfer && said.run === run
  })
}

function proofIn(ended: ClosedTransfer | undefined, isAsListed: (ended: ClosedTransfer) => boolean): RunProof {
  if (!ended) return 'unread'
  if (ended.unreadable) return isOfNoKey(ended.unreadable) ? 'foreign' : 'unread'
  return isAsListed(ended) ? 'same' : 'foreign'
}

/** Whether the code shows that the payload's writer had no key, which a readable payload needs. */
function isOfNoKey(code: ErrorCode): boolean {
  return code === 'ENCRYPTION_MISSING' || code === 'ENCRYPTION_BROKEN'
}

/** For `catch` around one of many runs. Throws only server errors that concern every run. */
export function proofDespite(error: unknown): RunProof {
  if (isForAll(error)) throw error
  return isOfNoKey(toRelayerError(error).code) ? 'foreign' : 'unread'
}
