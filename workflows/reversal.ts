import type { Reversal } from '../temporal/contracts/reversal.ts'
import { setCurrentDetails } from '@temporalio/workflow'

/** Does nothing. Its entry in Temporal's list is its only purpose. */
export async function reversal(input: Reversal): Promise<Reversal> {
  setCurrentDetails(`The delivery of ${input.transfer} is gone. Run ${input.run}, transaction ${input.txHash ?? 'unknown'}.`)
  return input
}
