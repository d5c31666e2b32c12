import { malformedUpdate, runIsFull } from '../temporal/contracts/names.ts'
import type { UpdateDefinition } from '@temporalio/common'
import { ApplicationFailure, allHandlersFinished, condition, setHandler, sleep, workflowInfo } from '@temporalio/workflow'

/**
 * Runs a reducer with one call of `apply` per update. `refuse` throws if a request is malformed. Set signal handlers
 * after this call: after a reset, one task gets all updates and signals, and must apply the updates first. Once the
 * promise resolves, continue as new.
 */
export async function entityWorkflow<Request, Response>(
  update: UpdateDefinition<Response, [Request]>,
  options: { readonly updatesPerRun: number; apply(request: Request): Response; refuse(request: Request): void },
): Promise<void> {
  let updates = 0
  let lengthAtLastUpdate = -1
  const isFull = () => updates >= options.updatesPerRun || workflowInfo().continueAsNewSuggested
  const handler = (request: Request) => {
    updates += 1
    lengthAtLastUpdate = workflowInfo().historyLength
    return options.apply(request)
  }
  const validator = (request: Request) => {
    // Without this refusal, a run that always gets updates would never end.
    if (isFull()) throw ApplicationFailure.retryable('the run is full; the next one takes over in a moment', runIsFull)
    try {
      options.refuse(request)
    } catch (error) {
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), malformedUpdate)
    }
  }
  setHandler(update, handler, { validator })
  await condition(isFull)
  // Answers to updates would be lost if the run closed in the task that made them.
  do await sleep(1, { summary: 'the run is full: its last answers go out before the next run takes over' })
  while (lengthAtLastUpdate === workflowInfo().historyLength || !allHandlersFinished())
}
