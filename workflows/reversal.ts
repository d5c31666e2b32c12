import type { Reversal } from '../temporal/contracts/reversal.ts'
import { setCurrentDetails } from '@temporalio/workflow'

/** A workflow that is only an entry in Temporal's list. */
export async function reversal(input: Reversal): Promise<Reversal> {
  setCurrentDetails(`The delivery of ${input.transfer} is gone. Run ${input.run}, transaction ${input.txHash ?? 'unknown'}.`)
  return input
}
