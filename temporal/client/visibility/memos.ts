import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowClientInterceptor,
  type WorkflowExecutionInfo,
} from '@temporalio/client'
import { executionInfoFromRaw, rethrowKnownErrorTypes } from '@temporalio/client/lib/helpers.js'
import type { LoadedDataConverter, Payload } from '@temporalio/common'
import { decodeFromPayloadsAtIndex, encodeToPayload } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { type ErrorCode, isErrorCode, RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { isTooLarge } from '../connection/errors.ts'
import type { RunId } from './runs.ts'

type DescribedRun = Pick<WorkflowExecutionInfo['raw'], 'execution' | 'memo'>

/**
 * Maximum size of the values of one memo, bytes. Portage writes less than half of it. Temporal accepts 2 MB, which take
 * 45 MB once they are parsed, and a page of a list has 1,000 memos.
 */
const mostMemoBytes = 8 * 1024
/** Maximum number of values read from one memo. Portage writes fewer. Temporal accepts 200,000 empty values. */
const mostMemoFields = 16

/**
 * A stranger's memo could break the SDK's lists, so values that are too large or cannot be decoded become
 * `{ unreadable: code }`.
 */
async function readableMemo(
  converter: LoadedDataConverter,
  namespace: string,
  { execution, memo }: DescribedRun,
): Promise<Record<string, unknown> | undefined> {
  if (!memo?.fields) return undefined
  const context = { type: 'workflow' as const, namespace, workflowId: execution?.workflowId ?? '' }
  const fields = Object.entries(memo.fields).slice(0, mostMemoFields)
  const bytes = fields.reduce((sum, [, { data }]) => sum + (data?.length ?? 0), 0)
  const decode = async (payload: Payload) => {
    if (bytes > mostMemoBytes) throw new RelayerError('INTERNAL', { detail: `A memo has ${bytes} bytes.` })
    return decodeFromPayloadsAtIndex<unknown>(converter, 0, [payload], context)
  }
  const values: [string, unknown][] = []
  for (const [name, payload] of fields)
    values.push([name, await decode(payload).catch((error: unknown) => ({ unreadable: toRelayerError(error).code }))])
  return Object.fromEntries(values)
}

interface Page<Run> {
  readonly runs: Run[]
  readonly next: Uint8Array | undefined
  /** Rows that were asked for. Fewer than the caller wants if a larger answer is more than the connection accepts. */
  readonly pageSize: number
}
type PageOptions = ListOptions & { readonly token?: Uint8Array | undefined }
type RawRun = WorkflowExecutionInfo['raw']

/** Rows of a page if `pageSize` is not given. */
const serverPageSize = 1_000

/** If the answer is larger than the connection accepts, because of large memos, asks for smaller pages. */
async function rawPage(client: Client, { query = '', pageSize = serverPageSize, token }: PageOptions): Promise<Page<RawRun>> {
  const { workflowService, options } = client
  const request = { namespace: options.namespace, query, pageSize, nextPageToken: token ?? Buffer.alloc(0) }
  try {
    const { executions, nextPageToken } = await workflowService.listWorkflowExecutions(request)
    return { runs: executions, next: nextPageToken.length > 0 ? nextPageToken : undefined, pageSize }
  } catch (cause) {
    if (isTooLarge(cause) && pageSize > 1) return rawPage(client, { query, token, pageSize: Math.ceil(pageSize / 16) })
    if (isGrpcServiceError(cause)) rethrowKnownErrorTypes(cause)
    throw cause instanceof Error ? new ServiceError('Failed to list workflows', { cause }) : cause
  }
}

export async function listPage(client: Client, options: PageOptions): Promise<Page<WorkflowExecutionInfo>> {
  const { namespace, loadedDataConverter: converter } = client.options
  const page = await rawPage(client, options)
  const runs: WorkflowExecutionInfo[] = []
  for (const run of page.runs) {
    const memo = await readableMemo(converter, namespace, run)
    // The SDK would decode the memo again. A copy of the run would lack the defaults of its prototype.
    run.memo = null
    runs.push({ ...(await executionInfoFromRaw(run, converter, run, namespace)), ...(memo && { memo }) })
  }
  return { ...page, runs }
}

export async function listPageOfIds(client: Client, options: PageOptions): Promise<Page<RunId>> {
  const page = await rawPage(client, options)
  return { ...page, runs: page.runs.map(({ execution }) => ({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' })) }
}

export function useReadableLists(client: Client): void {
  const { workflow } = client
  const list = workflow.list.bind(workflow)
  async function* listReadable(options: ListOptions = {}): AsyncGenerator<WorkflowExecutionInfo> {
    let [token, { pageSize }]: [Uint8Array | undefined, ListOptions] = [undefined, options]
    do {
      const page = await listPage(client, { ...options, pageSize, token })
      yield* page.runs
      token = page.next
      pageSize = page.pageSize
    } while (token)
  }
  workflow.list = (options) => ({ ...list(options), [Symbol.asyncIterator]: () => listReadable(options) })
}

/** The SDK decodes the memo of a described run itself, so its unreadable values are replaced. */
export function readableMemos(converter: LoadedDataConverter, namespace: string): WorkflowClientInterceptor {
  return {
    async describe(input, next) {
      const described = await next(input)
      const { execution, memo } = described.workflowExecutionInfo ?? {}
      const values = await readableMemo(converter, namespace, { execution, memo })
      if (!memo?.fields || !values) return described
      const context = { type: 'workflow' as const, namespace, workflowId: execution?.workflowId ?? '' }
      const fields: Record<string, Payload> = {}
      for (const [name, value] of Object.entries(values)) {
        const payload = unreadableCode(value) ? await encodeToPayload(converter, value, context) : memo.fields[name]
        if (payload) fields[name] = payload
      }
      memo.fields = fields
      return described
    },
  }
}

export function unreadableCode(value: unknown): ErrorCode | undefined {
  const { unreadable } = Object(value) as { readonly unreadable?: unknown }
  return isErrorCode(unreadable) ? unreadable : undefined
}
