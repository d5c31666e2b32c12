import { malformedUpdate, runIsFull } from '../temporal/contracts/lane.ts'
import type { UpdateDefinition } from '@temporalio/common'
import { ApplicationFailure, allHandlersFinished, condition, setHandler, sleep, workflowInfo } from '@temporalio/workflow'

/**
 * What lanes, streams and settings have in common: a reducer behind one update, and runs of so many updates. `apply` is synchronous and never waits.
 * @param options.refuse throws what is wrong with a request: it is refused as `malformedUpdate`, and costs no history
 * @returns resolves once the run is full, and has answered: now the workflow may continue as new
 */
export function serveUpdates<Request, Response>(
  update: UpdateDefinition<Response, [Request]>,
  options: { readonly perRun: number; apply(request: Request): Response; refuse(request: Request): void },
): () => Promise<void> {
  let updates = 0
  let taskOfLastUpdate = -1
  const full = () => updates >= options.perRun || workflowInfo().continueAsNewSuggested
  const onUpdate = (request: Request) => {
    updates += 1
    taskOfLastUpdate = workflowInfo().historyLength
    return options.apply(request)
  }
  const validator = (request: Request) => {
    // One that is never at rest would never get to its next run, so a full run takes no more. A refused update costs nothing.
    if (full()) throw ApplicationFailure.retryable('the run is full; the next one takes over in a moment', runIsFull)
    try {
      options.refuse(request)
    } catch (error) {
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), malformedUpdate)
    }
  }
  setHandler(update, onUpdate, { validator })
  return async () => {
    await condition(full)
    // A task that answers an update must not close the run: the answer would be lost to its caller.
    do await sleep(1)
    while (taskOfLastUpdate === workflowInfo().historyLength || !allHandlersFinished())
  }
}
