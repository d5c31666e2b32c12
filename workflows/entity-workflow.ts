import { malformedUpdate, runIsFull } from '../temporal/contracts/names.ts'
import type { UpdateDefinition } from '@temporalio/common'
import { ApplicationFailure, allHandlersFinished, condition, setHandler, sleep, workflowInfo } from '@temporalio/workflow'

/**
 * The loop of the workflows of lanes, streams and settings: a reducer behind one update. Call it before setting
 * handlers of signals: after a reset the run gets all updates and signals in one task, and a pause must not come before
 * the updates.
 * @param options.refuse throws the problem of a request, which is refused as `malformedUpdate` and costs no history
 * @returns resolves once the run is full and has answered; then continue as new
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
    // A workflow with constant updates would never reach its next run.
    if (isFull()) throw ApplicationFailure.retryable('the run is full; the next one takes over in a moment', runIsFull)
    try {
      options.refuse(request)
    } catch (error) {
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), malformedUpdate)
    }
  }
  setHandler(update, handler, { validator })
  await condition(isFull)
  // The task of an answer must not close the run, or the caller loses the answer.
  do await sleep(1, { summary: 'the run is full: its last answers go out before the next run takes over' })
  while (lengthAtLastUpdate === workflowInfo().historyLength || !allHandlersFinished())
}
