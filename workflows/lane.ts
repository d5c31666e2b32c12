import { type Order, orderLines, orderOf } from '../domain/order.ts'
import { errorCatalogue } from '../domain/catalogue/errors.ts'
import { type LaneId, workflowOf, type LaneState, newLane } from '../domain/lane/lane.ts'
import { type ApplyRequest, type Closed, type OperatorAsk, type RolledBack, refusalCodes } from '../domain/lane/messages.ts'
import { carried, paged } from '../domain/lane/storage/pages.ts'
import { apply, assertApplyRequest } from '../domain/lane/reducer/reducer.ts'
import { view } from '../domain/lane/view.ts'
import { shellWord } from '../domain/text/printable.ts'
import { code as asCode, foreign, paragraphs } from '../domain/text/web-ui-text.ts'
import * as contract from '../temporal/contracts/lane.ts'
import { rolledBackSignal } from '../temporal/contracts/transfer.ts'
import { entityWorkflow } from './entity-workflow.ts'
import { continueAsNew, getExternalWorkflowHandle, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'

/**
 * Maximum updates per run, far below the server's 2,000, because the server rewrites all updates of a run at every
 * step.
 */
const updatesPerRun = 300

/** The nonce ledger of a key on a chain. Only it writes grants and attempts, by the rules of domain/lane/reducer. */
export async function lane(input: contract.LaneInput): Promise<void> {
  let state = input.state ?? newLane(input.config)

  const step = (request: ApplyRequest) => {
    const result = apply(state, request, Date.now(), isFromEarlierRun(request))
    state = paged(result.state)
    setCurrentDetails(details(state))
    for (const one of result.rolledBack) notifyOwner(one)
    return { ...result.response, view: { ...result.response.view, run: workflowInfo().runId } }
  }
  const order = (ask: OperatorAsk) => void step({ requests: [{ ...ask, id: '' }] })
  const close = (kind: 'drain' | 'forbid', named: Order) => order({ kind, reason: named.reason, order: named })

  const full = entityWorkflow(contract.applyUpdate, {
    updatesPerRun: input.updatesPerRun ?? updatesPerRun,
    apply: step,
    refuse: assertApplyRequest,
  })
  setHandler(contract.pauseSignal, (given) => {
    const named = orderOf(given)
    order({ kind: 'pause', pause: { kind: 'operator', reason: named.reason }, order: named })
  })
  setHandler(contract.drainSignal, (given) => close('drain', orderOf(given)))
  setHandler(contract.forbidSignal, (given) => close('forbid', orderOf(given)))
  setHandler(contract.activateSignal, (given) => order({ kind: 'activate', order: orderOf(given) }))
  setHandler(contract.resumeSignal, (given) => order({ kind: 'resume', order: orderOf(given) }))
  setHandler(contract.setWindowSignal, (given) => order({ kind: 'setWindow', window: given?.window, order: orderOf(given) }))
  setHandler(contract.resyncSignal, (given) => order({ kind: 'resync', order: orderOf(given) }))
  setHandler(contract.laneStatusQuery, () => carried(state))

  await full
  await continueAsNew<typeof lane>({ ...input, state: carried(state) })
}

/**
 * Whether the request was sent to an earlier run. After a reset, Temporal applies such requests in a different order.
 */
function isFromEarlierRun({ run }: ApplyRequest): boolean {
  const { runId, originalExecutionRunId } = workflowInfo()
  return runId !== originalExecutionRunId && run !== undefined && run !== runId
}

function notifyOwner({ intentId, nonce }: RolledBack): void {
  // The signal fails if the owner has closed. Recovery restarts an owner that closed without an outcome.
  getExternalWorkflowHandle(workflowOf(intentId))
    .signal(rolledBackSignal, { intentId, nonce })
    .catch(() => {})
}

function details(state: LaneState): string {
  const { inFlight, next, latest, window, closed } = view(state)
  const { granted, filled, external, rolledBack } = state.counts
  const { lane } = state.config
  return paragraphs(
    `**${lane}** ${closed ? `takes no new work: ${closed.why}` : state.synced ? 'active' : 'not synced: the account has not been read yet'}`,
    ...(closed ? whyClosed(lane, closed) : []),
    `next nonce ${next}, on chain ${latest}, in flight ${inFlight} of ${window}`,
    `granted ${granted}, filled ${filled}, external ${external}, rolled back ${rolledBack}`,
    state.orders && state.orders.length > 0 && `Orders:\n\n${orderLines(state.orders).join('\n')}`,
  )
}

function whyClosed(lane: LaneId, { why, detail, by }: Closed): string[] {
  const code = refusalCodes[why]
  const { title, remedy } = errorCatalogue[code]
  return [
    `${asCode(code)} ${title} Here: ${foreign(detail)}${by === undefined ? '' : ` (by ${foreign(by)})`}`,
    `**What to do:** ${foreign(remedy)} To look: ${asCode(`portage lane show ${shellWord(lane) ?? '…'}`)}`,
  ]
}
