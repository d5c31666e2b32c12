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
import type { RunId } from './runs.ts'

type DescribedRun = Pick<WorkflowExecutionInfo['raw'], 'execution' | 'memo'>

/**
 * Maximum size of the values of one memo, bytes. Portage writes less than half of it. Temporal accepts 2 MB, which take
 * 45 MB once they are parsed, and a page of a list has 1,000 memos.
 */
const mostMemoBytes = 8 * 1024

/**
 * A stranger's memo could break the SDK's lists, so values that are too large or cannot be decoded become
 * `{ unreadable: code }`.
 */
async function makeMemoReadable(converter: LoadedDataConverter, namespace: string, { execution, memo }: DescribedRun): Promise<void> {
  const fields = memo?.fields ?? {}
  const context = { type: 'workflow' as const, namespace, workflowId: execution?.workflowId ?? '' }
  const bytes = Object.values(fields).reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
  const decode = (payload: Payload) => {
    if (bytes > mostMemoBytes) throw new RelayerError('INTERNAL', { detail: `A memo has ${bytes} bytes.` })
    return decodeFromPayloadsAtIndex(converter, 0, [payload], context)
  }
  for (const [name, payload] of Object.entries(fields)) {
    const code = await Promise.resolve(payload)
      .then(decode)
      .then(
        () => undefined,
        (error: unknown) => toRelayerError(error).code,
      )
    if (code) fields[name] = await encodeToPayload(converter, { unreadable: code }, context)
  }
}

type Page<Run> = Promise<{ readonly runs: Run[]; readonly next: Uint8Array | undefined }>
type PageOptions = ListOptions & { readonly token?: Uint8Array | undefined }

/** Rows of a page if `pageSize` is not given. */
const serverPageSize = 1_000

/** If the answer is larger than the connection accepts, because of large memos, asks for smaller pages. */
async function rawPage(client: Client, { query = '', pageSize = serverPageSize, token }: PageOptions): Promise<RawPage> {
  const { workflowService, options } = client
  const request = { namespace: options.namespace, query, pageSize, nextPageToken: token ?? Buffer.alloc(0) }
  try {
    const page = await workflowService.listWorkflowExecutions(request)
    return { raw: page.executions, next: page.nextPageToken.length > 0 ? page.nextPageToken : undefined }
  } catch (cause) {
    if (isGrpcServiceError(cause) && tooLarge.has(cause.code) && pageSize > 1)
      return rawPage(client, { query, token, pageSize: Math.ceil(pageSize / 16) })
    if (isGrpcServiceError(cause)) rethrowKnownErrorTypes(cause)
    throw cause instanceof Error ? new ServiceError('Failed to list workflows', { cause }) : cause
  }
}

/** gRPC codes of an answer that is too large: RESOURCE_EXHAUSTED of grpc-js, and OUT_OF_RANGE of the SDK's core. */
const tooLarge: ReadonlySet<number> = new Set([8, 11])

interface RawPage {
  readonly raw: readonly WorkflowExecutionInfo['raw'][]
  readonly next: Uint8Array | undefined
}

export async function listPage(client: Client, options: PageOptions): Page<WorkflowExecutionInfo> {
  const { namespace, loadedDataConverter: converter } = client.options
  const { raw, next } = await rawPage(client, options)
  const runs: WorkflowExecutionInfo[] = []
  for (const run of raw) {
    await makeMemoReadable(converter, namespace, run)
    runs.push(await executionInfoFromRaw(run, converter, run, namespace))
  }
  return { runs, next }
}

export async function listPageOfIds(client: Client, options: PageOptions): Page<RunId> {
  const { raw, next } = await rawPage(client, options)
  return { runs: raw.map(({ execution }) => ({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' })), next }
}

export function useReadableLists(client: Client): void {
  const { workflow } = client
  const list = workflow.list.bind(workflow)
  async function* listReadable(options: ListOptions = {}): AsyncGenerator<WorkflowExecutionInfo> {
    let token: Uint8Array | undefined
    do {
      const { runs, next } = await listPage(client, { ...options, token })
      yield* runs
      token = next
    } while (token)
  }
  workflow.list = (options) => ({ ...list(options), [Symbol.asyncIterator]: () => listReadable(options) })
}

export function readableMemos(converter: LoadedDataConverter, namespace: string): WorkflowClientInterceptor {
  return {
    async describe(input, next) {
      const described = await next(input)
      await makeMemoReadable(converter, namespace, described.workflowExecutionInfo ?? {})
      return described
    },
  }
}

export function unreadableCode(value: unknown): ErrorCode | undefined {
  const { unreadable } = Object(value) as { readonly unreadable?: unknown }
  return isErrorCode(unreadable) ? unreadable : undefined
}
