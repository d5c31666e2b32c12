import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowClientInterceptor,
  type WorkflowExecutionInfo,
} from '@temporalio/client'
import { executionInfoFromRaw, rethrowKnownErrorTypes } from '@temporalio/client/lib/helpers.js'
import type { LoadedDataConverter } from '@temporalio/common'
import { decodeFromPayloadsAtIndex, encodeToPayload } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { type ErrorCode, isErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { RunId } from './runs.ts'

type DescribedRun = Pick<WorkflowExecutionInfo['raw'], 'execution' | 'memo'>

/** A stranger's memo could break the SDK's lists, so values that cannot be decoded become `{ unreadable: code }`. */
async function makeMemoReadable(converter: LoadedDataConverter, namespace: string, { execution, memo }: DescribedRun): Promise<void> {
  const fields = memo?.fields ?? {}
  const context = { type: 'workflow' as const, namespace, workflowId: execution?.workflowId ?? '' }
  for (const [name, payload] of Object.entries(fields)) {
    const code = await decodeFromPayloadsAtIndex(converter, 0, [payload], context).then(
      () => undefined,
      (error: unknown) => toRelayerError(error).code,
    )
    if (code) fields[name] = await encodeToPayload(converter, { unreadable: code }, context)
  }
}

type Page<Run> = Promise<{ readonly runs: Run[]; readonly next: Uint8Array | undefined }>
type PageOptions = ListOptions & { readonly token?: Uint8Array | undefined }

async function rawPage({ workflowService, options: { namespace } }: Client, { query = '', pageSize = 0, token }: PageOptions) {
  const request = { namespace, query, pageSize, nextPageToken: token ?? Buffer.alloc(0) }
  const page = await workflowService.listWorkflowExecutions(request).catch((cause: unknown) => {
    if (isGrpcServiceError(cause)) rethrowKnownErrorTypes(cause)
    throw cause instanceof Error ? new ServiceError('Failed to list workflows', { cause }) : cause
  })
  return { raw: page.executions, next: page.nextPageToken.length > 0 ? page.nextPageToken : undefined }
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
