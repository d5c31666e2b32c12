import { isGrpcServiceError } from '@temporalio/client'
import { searchAttributes } from '../contracts/names.ts'
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

/** That an attribute is missing is believed for so long, ms: `portage setup temporal` may have made it. */
const missingMs = 2_000
const known = new WeakMap<TemporalClient, { readonly answer: Promise<boolean>; until: number }>()

/**
 * May transfers that begin now write their code into `PortageCode`? Asked once per client, however many begin at a time, and again while it is missing. False while that
 * cannot be told. Never throws.
 */
export function hasCodes(client: TemporalClient): Promise<boolean> {
  const last = known.get(client)
  if (last && performance.now() < last.until) return last.answer
  const asked = { answer: askForCodes(client), until: Infinity }
  known.set(client, asked)
  void asked.answer.then((isThere) => {
    if (!isThere) asked.until = performance.now() + missingMs
  })
  return asked.answer
}

async function askForCodes(client: TemporalClient): Promise<boolean> {
  try {
    return await hasSearchAttribute(client, searchAttributes.PortageCode.name)
  } catch {
    return false
  }
}
