import { newLane } from '../domain/lane/lane.ts'
import type { ApplyRequest, LaneRequest, LaneState, RolledBack } from '../domain/lane/lane.ts'
import { assertApplyRequest } from '../domain/lane/request.ts'
import { packLane, unpackLane } from '../domain/lane/pack.ts'
import { apply, view } from '../domain/lane/reducer.ts'
import type { LaneInput } from '../temporal/contracts/lane.ts'
import {
  activateSignal,
  applyUpdate,
  drainSignal,
  forbidSignal,
  laneStatusQuery,
  pauseSignal,
  resumeSignal,
  resyncSignal,
  setWindowSignal,
} from '../temporal/contracts/lane.ts'
import { rolledBackSignal } from '../temporal/contracts/transfer.ts'
import { serveUpdates } from './entity-workflow.ts'
import { textOr } from './text-or.ts'
import { continueAsNew, getExternalWorkflowHandle, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'

/** Far below the server's 2,000 updates per run: each update lives in the run's record, which is rewritten at every step. */
const updatesPerRun = 300
const noReason = 'no reason given'

/**
 * The nonce ledger of one key on one chain: the only writer of its grants and attempts. A shell: what is decided is decided in
 * domain/lane/reducer.ts. Handlers are synchronous and never wait.
 */
export async function lane(input: LaneInput): Promise<void> {
  let state = input.state ? unpackLane(input.state) : newLane(input.config)

  const step = (request: ApplyRequest) => {
    const result = apply(state, request, Date.now(), isOfBefore(request))
    state = result.state
    setCurrentDetails(details(state))
    for (const fallen of result.rolledBack) tell(fallen)
    return { ...result.response, view: { ...result.response.view, run: workflowInfo().runId } }
  }
  const order = (request: LaneRequest) => void step({ requests: [request] })

  const untilFull = serveUpdates(applyUpdate, { perRun: input.updatesPerRun ?? updatesPerRun, apply: step, refuse: assertApplyRequest })
  // Batch tools can only signal; each of these is idempotent. Typed by hand: what is missing must not fail the task, and so the lane.
  setHandler(pauseSignal, (by) => order({ kind: 'pause', id: '', reason: textOr(by?.reason, noReason) }))
  setHandler(drainSignal, (by) => order({ kind: 'drain', id: '', reason: textOr(by?.reason, noReason) }))
  setHandler(forbidSignal, (by) => order({ kind: 'forbid', id: '', reason: textOr(by?.reason, noReason) }))
  setHandler(activateSignal, () => order({ kind: 'activate', id: '' }))
  setHandler(resumeSignal, () => order({ kind: 'resume', id: '' }))
  setHandler(setWindowSignal, (to) => order({ kind: 'setWindow', id: '', window: to?.window }))
  setHandler(resyncSignal, () => order({ kind: 'resync', id: '' }))
  setHandler(laneStatusQuery, () => state)

  await untilFull()
  await continueAsNew<typeof lane>({ ...input, state: packLane(state) })
}

/**
 * In a run that a reset made: asked of the run before it. A reset applies signals and updates of that run once more, in another order, and a replay
 * may have yet another; who hears of the new run names it from then on. What was answered before the point of the reset counts as of before, too:
 * nothing tells the one from the other. Processes of older versions name no run, and are taken as they were.
 */
function isOfBefore({ run }: ApplyRequest): boolean {
  const { runId, originalExecutionRunId } = workflowInfo()
  return runId !== originalExecutionRunId && run !== undefined && run !== runId
}

function tell({ workflowId, intentId, nonce }: RolledBack): void {
  // An owner that is closed cannot be told and need not be: what closed undone is started again by intake.
  getExternalWorkflowHandle(workflowId)
    .signal(rolledBackSignal, { intentId, nonce })
    .catch(() => {})
}

function details(state: LaneState): string {
  const { inFlight, next, latest, window, closed } = view(state)
  const { granted, filled, foreign, rolledBack } = state.counts
  return [
    `**${state.config.lane}** ${closed ? `${closed.why}: ${closed.detail}` : state.synced ? 'active' : 'not synced'}`,
    `next nonce ${next}, on chain ${latest}, in flight ${inFlight} of ${window}`,
    `granted ${granted}, filled ${filled}, foreign ${foreign}, rolled back ${rolledBack}`,
  ].join('\n\n')
}
