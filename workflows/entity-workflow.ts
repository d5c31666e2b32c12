import { malformedUpdate, runIsFull } from '../temporal/contracts/names.ts'
import type { UpdateDefinition } from '@temporalio/common'
import { ApplicationFailure, allHandlersFinished, condition, setHandler, sleep, workflowInfo } from '@temporalio/workflow'

/**
 * The loop that the workflows of lanes, streams and settings share: a reducer behind one update. The call itself sets its handler, which must be before those
 * of signals: a reset sends a run again all that it was told, in one task, and a pause would refuse the updates before it.
 * @param options.refuse throws what is wrong with a request: it is refused as `malformedUpdate`, and costs no history
 * @returns resolves once the run is full, and has answered: the workflow then continues as new
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
    // A workflow that is never at rest would never get to its next run.
    if (isFull()) throw ApplicationFailure.retryable('the run is full; the next one takes over in a moment', runIsFull)
    try {
      options.refuse(request)
    } catch (error) {
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), malformedUpdate)
    }
  }
  setHandler(update, handler, { validator })
  await condition(isFull)
  // A task that answers an update must not close the run: the answer would be lost to its caller.
  do await sleep(1, { summary: 'the run is full: its last answers go out before the next run takes over' })
  while (lengthAtLastUpdate === workflowInfo().historyLength || !allHandlersFinished())
}
