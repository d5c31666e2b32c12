import type { Payload } from '@temporalio/common'
import {
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  encodeToPayloads,
} from '@temporalio/common/lib/internal-non-workflow/index.js'
import type { TemporalClient } from './client.ts'

// For calls outside the SDK's methods, which do not use the codec.

type Failure = Parameters<typeof decodeOptionalFailureToOptionalError>[1]

/** Throws what the codec and the SDK's converter throw. */
export function decodeFirst<Value>(client: TemporalClient, workflowId: string, payloads: readonly Payload[]): Promise<Value> {
  return decodeFromPayloadsAtIndex<Value>(client.options.loadedDataConverter, 0, [...payloads], contextOf(client, workflowId))
}

/** For workflows that the server selects: bound to none of them. */
export async function encodeForMany(client: TemporalClient, ...values: readonly unknown[]): Promise<Payload[]> {
  return (await encodeToPayloads(client.options.loadedDataConverter, ...values)) ?? []
}

/** Its plain part, if it cannot be decrypted. */
export async function failureMessage(client: TemporalClient, workflowId: string, failure: Failure): Promise<string> {
  const decoded = decodeOptionalFailureToOptionalError(client.options.loadedDataConverter, failure, contextOf(client, workflowId))
  const error = await decoded.catch(() => undefined)
  return error?.message ?? failure?.message ?? ''
}

function contextOf({ options }: TemporalClient, workflowId: string) {
  return { type: 'workflow' as const, namespace: options.namespace, workflowId }
}
