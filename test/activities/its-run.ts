import type { Info } from '@temporalio/activity'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'

/** Runs a step of a transfer as an activity of the run that has the transfer's id. */
export function inItsRun<Input extends { readonly transfer: Transfer }, Result>(
  step: (input: Input) => Promise<Result>,
  info: () => Partial<Info> = () => ({}),
): (input: Input) => Promise<Result> {
  return (input) => {
    const workflowExecution = { workflowId: transferId(input.transfer), runId: '1' }
    const environment = new MockActivityEnvironment({ workflowExecution, ...info() }, { logger: new DefaultLogger('ERROR') })
    return environment.run(step, input)
  }
}
