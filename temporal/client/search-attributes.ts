import { isGrpcServiceError } from '@temporalio/client'
import { type TemporalClient, within } from './client.ts'

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
