import type { Payload } from '@temporalio/common'
import {
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  encodeToPayloads,
} from '@temporalio/common/lib/internal-non-workflow/index.js'
import type { TemporalClient } from './client.ts'

// What is read and written past the methods of the SDK, which go through the codec by themselves.

type Failure = Parameters<typeof decodeOptionalFailureToOptionalError>[1]

/** The first value of a workflow's payloads. Throws what the codec and the SDK's converter throw. */
export function decodeFirst<Value>(client: TemporalClient, workflowId: string, payloads: readonly Payload[]): Promise<Value> {
  return decodeFromPayloadsAtIndex<Value>(client.options.loadedDataConverter, 0, [...payloads], contextOf(client, workflowId))
}

/** Arguments for workflows that the server itself finds: bound to none of them. */
export async function encodeForMany(client: TemporalClient, ...values: readonly unknown[]): Promise<Payload[]> {
  return (await encodeToPayloads(client.options.loadedDataConverter, ...values)) ?? []
}

/** The message of a failure in the history of a workflow; what stands there in clear, if it cannot be decrypted. */
export async function failureMessage(client: TemporalClient, workflowId: string, failure: Failure): Promise<string> {
  const decoded = decodeOptionalFailureToOptionalError(client.options.loadedDataConverter, failure, contextOf(client, workflowId))
  const error = await decoded.catch(() => undefined)
  return error?.message ?? failure?.message ?? ''
}

function contextOf({ options }: TemporalClient, workflowId: string) {
  return { type: 'workflow' as const, namespace: options.namespace, workflowId }
}
