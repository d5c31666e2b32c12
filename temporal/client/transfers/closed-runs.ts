import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { ChainName, TransferState } from '../../../domain/transfer/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { readRetentionHours } from '../connection/namespace-setup.ts'
import { ifGone, ifMissing, isOfServer, rethrowAs } from '../connection/errors.ts'
import { listPageOfIds } from '../visibility/memos.ts'
import type { RunId } from '../visibility/runs.ts'
import { storedTransfer } from './start-transfer.ts'
import { stateOf } from './transfer-list.ts'
import { transfersWith, undone } from './transfer-queries.ts'

export interface ClosedRun extends RunId {
  readonly execution: string
  readonly startedAt: string
  readonly closedAt: string
}

/** Input and result of a closed run, unchecked: anyone with access to Temporal can write anything into a history. */
export type ClosedTransfer = NonNullable<Awaited<ReturnType<typeof readClosedRun>>>

export interface ClosedPage {
  kind: 'delivered' | 'undone'
  chain: ChainName
  from: number
  to: number
  /** The server's page token. Empty for the first page and after the last one. */
  token: string
}

const pageSize = 200
const timeoutMs = 30_000

/** Lists runs in the server's order, because a dev server has no ORDER BY. */
export async function listClosedPage(client: TemporalClient, page: ClosedPage): Promise<{ runs: RunId[]; token: string }> {
  const { kind, chain, from, to, token } = page
  const query = transfersWith(
    { TargetChain: chain, TransferState: kind === 'delivered' ? 'delivered' : undefined },
    kind === 'delivered' ? `ExecutionStatus = 'Completed'` : undone,
    `CloseTime >= '${new Date(from).toISOString()}' AND CloseTime <= '${new Date(to).toISOString()}'`,
  )
  const { runs, next } = await listPageOfIds(client, { query, pageSize, token: Buffer.from(token, 'base64') })
  return { runs, token: Buffer.from(next ?? []).toString('base64') }
}

/** State of the latest run with this id. Asks the server itself, because the visibility store lags. */
export async function latestRun(client: TemporalClient, id: string): Promise<'running' | 'undone' | TransferState | 'gone'> {
  const run = await client.workflow.getHandle(id).describe().catch(ifGone(undefined))
  if (!run) return 'gone'
  if (run.status.name === 'RUNNING' || run.status.name === 'CONTINUED_AS_NEW') return 'running'
  if (run.status.name !== 'COMPLETED') return 'undone'
  return stateOf(run) ?? 'gone'
}

/** Sorted by closing time. `from` (inclusive) and `to` are ms since the epoch. Throws the errors of `fromTemporal`. */
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

/** Returns undefined if the server has deleted the run. Throws the errors of `fromTemporal`. */
export async function readClosedRun(
  client: TemporalClient,
  { workflowId, runId, execution }: Pick<ClosedRun, 'workflowId' | 'runId' | 'execution'>,
) {
  const result = () => client.workflow.getHandle(workflowId, runId, { followRuns: false }).result() as Promise<unknown>
  const read = async () => {
    const [transfer, ended] = await Promise.all([
      unlessUnreadable(storedTransfer(client, workflowId, runId)),
      unlessUnreadable(execution === 'COMPLETED' ? result() : Promise.resolve(undefined)),
    ])
    // An input that cannot be decrypted is unreadable. An input that is not a transfer is readable.
    const unreadable = ended.code ?? (transfer.code?.startsWith('ENCRYPTION_') ? transfer.code : undefined)
    return { transfer: transfer.value, result: ended.value, ...(unreadable && { unreadable }) }
  }
  return within(client, timeoutMs, read)
    .catch(ifGone(undefined))
    .catch(ifMissing(undefined))
    .catch(rethrowAs({}, { transfer: workflowId }))
}

function unlessUnreadable(reading: Promise<unknown>): Promise<{ readonly value?: unknown; readonly code?: ErrorCode }> {
  return reading.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (isOfServer(error)) throw error
      return { code: toRelayerError(error).code }
    },
  )
}

export function retentionHours(client: TemporalClient): Promise<number> {
  return within(client, timeoutMs, () => readRetentionHours(client, client.options.namespace)).catch(rethrowAs({}))
}
