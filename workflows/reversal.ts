import type { Reversal } from '../temporal/contracts/reversal.ts'
import { setCurrentDetails } from '@temporalio/workflow'

/** Ends at once: that it is in Temporal's list is all that it is for. */
export async function reversal(input: Reversal): Promise<Reversal> {
  setCurrentDetails(`The delivery of ${input.transfer} is gone. Run ${input.run}, transaction ${input.txHash ?? 'unknown'}.`)
  return input
}
