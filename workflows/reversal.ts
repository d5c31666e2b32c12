import type { Reversal } from '../temporal/contracts/reversal.ts'
import { setCurrentDetails } from '@temporalio/workflow'

/** Does no work: the run is the record of a reversal, which Temporal's list shows. */
export async function reversal(input: Reversal): Promise<Reversal> {
  setCurrentDetails(`The delivery of ${input.transfer} is gone. Run ${input.run}, transaction ${input.txHash ?? 'unknown'}.`)
  return input
}
