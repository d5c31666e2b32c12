import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowClient,
  type WorkflowClientInterceptor,
  type WorkflowExecutionInfo,
} from '@temporalio/client'
import { executionInfoFromRaw, rethrowKnownErrorTypes } from '@temporalio/client/lib/helpers.js'
import type { LoadedDataConverter, Payload } from '@temporalio/common'
import { decodeFromPayloadsAtIndex, encodeToPayload } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { type ErrorCode, isErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'

interface DescribedRun {
  readonly execution?: { readonly workflowId?: string | null } | null
  readonly memo?: { readonly fields?: Record<string, Payload> | null } | null
}

/** Unreadable values become `{ unreadable: code }`: one stranger's memo could break each list of the SDK. */
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

export function useReadableLists(workflow: WorkflowClient, converter: LoadedDataConverter, namespace: string): void {
  const list = workflow.list.bind(workflow)
  workflow.list = (options) => ({ ...list(options), [Symbol.asyncIterator]: () => listReadable(workflow, converter, namespace, options) })
}

async function* listReadable(
  { workflowService }: WorkflowClient,
  converter: LoadedDataConverter,
  namespace: string,
  { query = '', pageSize = 0 }: ListOptions = {},
): AsyncGenerator<WorkflowExecutionInfo> {
  let nextPageToken: Uint8Array = Buffer.alloc(0)
  do {
    const page = await workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken }).catch((cause: unknown) => {
      if (isGrpcServiceError(cause)) rethrowKnownErrorTypes(cause)
      throw cause instanceof Error ? new ServiceError('Failed to list workflows', { cause }) : cause
    })
    for (const run of page.executions) {
      await makeMemoReadable(converter, namespace, run)
      yield await executionInfoFromRaw(run, converter, run, namespace)
    }
    nextPageToken = page.nextPageToken
  } while (nextPageToken.length > 0)
}

export async function listPage(
  { workflowService, options }: Client,
  {
    query,
    pageSize,
    token = Buffer.alloc(0),
  }: { readonly query: string; readonly pageSize: number; readonly token?: Uint8Array | undefined },
): Promise<{ readonly runs: WorkflowExecutionInfo[]; readonly next: Uint8Array | undefined }> {
  const { namespace, loadedDataConverter } = options
  const page = await workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken: token })
  const runs: WorkflowExecutionInfo[] = []
  for (const run of page.executions) {
    await makeMemoReadable(loadedDataConverter, namespace, run)
    runs.push(await executionInfoFromRaw(run, loadedDataConverter, run, namespace))
  }
  return { runs, next: page.nextPageToken.length > 0 ? page.nextPageToken : undefined }
}

/** For descriptions. */
export function readableMemos(converter: LoadedDataConverter, namespace: string): WorkflowClientInterceptor {
  return {
    async describe(input, next) {
      const described = await next(input)
      await makeMemoReadable(converter, namespace, described.workflowExecutionInfo ?? {})
      return described
    },
  }
}

/** Undefined: it is readable. */
export function unreadableCode(value: unknown): ErrorCode | undefined {
  const { unreadable } = Object(value) as { readonly unreadable?: unknown }
  return isErrorCode(unreadable) ? unreadable : undefined
}
