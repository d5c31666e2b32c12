import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { listByPage, type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isGone, isMissing, isOfServer } from '../connection/errors.ts'
import type { RunId } from '../visibility/runs.ts'
import { storedTransfer } from './start-transfer.ts'
import { transfersWith } from './transfer-queries.ts'

/** A closed run of a transfer that did not go on in another one. */
export interface EndedRun extends RunId {
  /** Temporal's word: COMPLETED, or TERMINATED, FAILED… (without an outcome; intake, stream or audit start it again). */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly closedAt: string
}

/** What a run was for, and how it ended: as it stands in its history, where whoever reaches Temporal can write anything. */
export interface EndedTransfer {
  /** Undefined: it cannot be read. */
  readonly transfer: unknown
  /** Undefined: it has none, or it cannot be read. */
  readonly result: unknown
  /** Why one of them cannot be read. */
  readonly unreadable?: ErrorCode
}

/** Of a run, and of a page of the list. */
const timeoutMs = 30_000

/** The runs that closed at `from` or later and before `to`, ms since the epoch, in order of their end. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function listEndedRuns(client: TemporalClient, from: number, to: number): Promise<EndedRun[]> {
  const [first, end] = [from, to].map((at) => new Date(at).toISOString())
  const query = transfersWith(
    {},
    `ExecutionStatus IN ('Completed', 'Failed', 'Terminated', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${first}' AND CloseTime < '${end}'`,
  )
  const runs = await listByPage(client, query, timeoutMs).catch(rethrow)
  return runs
    .flatMap(({ workflowId, runId, status, startTime, closeTime }) =>
      closeTime
        ? [{ workflowId, runId, execution: status.name, startedAt: startTime.toISOString(), closedAt: closeTime.toISOString() }]
        : [],
    )
    .toSorted((a, b) => compare(a.closedAt, b.closedAt) || compare(a.runId, b.runId))
}

/** What became of it: two reads of its history. Undefined: it is gone since it was listed. Throws TEMPORAL_UNAVAILABLE and the like, and nothing for what stands there. */
export async function readEndedRun(client: TemporalClient, { workflowId, runId, execution }: EndedRun): Promise<EndedTransfer | undefined> {
  const result = () => client.workflow.getHandle(workflowId, runId, { followRuns: false }).result() as Promise<unknown>
  try {
    return await within(client, timeoutMs, async () => {
      const [transfer, ended] = await Promise.all([
        unlessUnreadable(storedTransfer(client, workflowId, runId)),
        unlessUnreadable(execution === 'COMPLETED' ? result() : Promise.resolve(undefined)),
      ])
      const unreadable = codeOf(ended) ?? codeOf(transfer, isOfKey)
      return { transfer: transfer.value, result: ended.value, ...(unreadable && { unreadable }) }
    })
  } catch (error) {
    if (isGone(error) || isMissing(error)) return undefined
    throw fromTemporal(error, {}, { transfer: workflowId })
  }
}

interface Read {
  readonly value?: unknown
  readonly code?: ErrorCode
}

/** What the codec and the converter say against it is the run's own; what the server says is thrown. */
function unlessUnreadable(reading: Promise<unknown>): Promise<Read> {
  return reading.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (isOfServer(error)) throw error
      return { code: toRelayerError(error).code }
    },
  )
}

/** What a run was started with may be no transfer: that alone is no reason. */
function codeOf({ code }: Read, counts: (code: ErrorCode) => boolean = () => true): ErrorCode | undefined {
  return code && counts(code) ? code : undefined
}

function isOfKey(code: ErrorCode): boolean {
  return code.startsWith('ENCRYPTION_')
}

/** How long closed workflows are kept in the namespace, hours. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function retentionHours(client: TemporalClient): Promise<number> {
  const { namespace } = client.options
  const { config } = await within(client, timeoutMs, () => client.workflowService.describeNamespace({ namespace })).catch(rethrow)
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3_600
}

function rethrow(error: unknown): never {
  throw fromTemporal(error, {})
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
