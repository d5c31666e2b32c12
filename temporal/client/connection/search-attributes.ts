import { isGrpcServiceError } from '@temporalio/client'
import { searchAttributes } from '../../contracts/names.ts'
import { type TemporalClient, within } from './client.ts'
import { keptRead } from '../../../runtime/shared-read.ts'

const answerMs = 5_000
/** gRPC: INVALID_ARGUMENT, the answer to a query by a search attribute that the namespace does not have. */
const invalidCodes = [3]

/**
 * Does the namespace have this search attribute? Asked by a query, which needs no more than to read and which Temporal Cloud answers, too: it lists attributes to
 * nobody by this API. Throws what the Temporal client throws.
 */
export async function hasSearchAttribute(client: TemporalClient, name: string): Promise<boolean> {
  const { namespace } = client.options
  try {
    await within(client, answerMs, () => client.workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` }))
    return true
  } catch (error) {
    if (isGrpcServiceError(error) && invalidCodes.includes(error.code)) return false
    throw error
  }
}

/** That an attribute is missing, or cannot be told, is believed for so long, ms: `portage setup temporal` may have made it. */
const missingMs = 2_000
const known = new WeakMap<TemporalClient, () => Promise<boolean>>()

/**
 * Has the namespace `PortageCode`? Asked once per client, however many want to know at a time, and again while it is missing. Throws what the Temporal client throws.
 */
export function lookForCodes(client: TemporalClient): Promise<boolean> {
  const look =
    known.get(client) ??
    keptRead(() => hasSearchAttribute(client, searchAttributes.PortageCode.name), {
      fromAnswer: (isThere) => (isThere ? Infinity : missingMs),
    })
  known.set(client, look)
  return look()
}

/** May transfers that begin now write their code into `PortageCode`? False while that cannot be told. Never throws. */
export function hasCodes(client: TemporalClient): Promise<boolean> {
  return lookForCodes(client).catch(() => false)
}
