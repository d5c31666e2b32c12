import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { callHash } from '../../lanes/lane-call.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, Ready, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { settled } from './check-delivered.ts'
import { admissionStep } from './admission-step.ts'
import { waitForGate } from './gate-wait.ts'
import { type Choice, chooseLane, noLane } from './choose-lane.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { haltedBy } from './restrictions.ts'
import { priceCall, type Priced } from '../price-call.ts'

/** First wait after a call that reverts, ms. The workflow doubles it each time. */
const revertMs = 15_000
/** Between two looks at a market that is too dear, ms, to begin with; the workflow doubles it up to a minute. */
const dearMs = 5_000

/** Step 3: chooses the lane, simulates the call from its address, quotes the fee. A revert here costs nothing. */
export function createPrepare(deps: StepDeps) {
  return async function prepare(input: AdmitInput): Promise<Ready | Stopped> {
    return admissionStep(deps, input.transfer, async (reserve) => {
      const halted = haltedBy(deps, input.transfer)
      if (halted) return halted
      const choice = await chooseLane(deps, input, reserve)
      if (choice.kind !== 'lane') return unchosen(deps, input, choice)
      return judge(deps, input, choice.lane, await priceDelivery(deps, input, choice.lane))
    })
  }
}

/** No lane delivers it now. */
export function unchosen(deps: StepDeps, input: AdmitInput, choice: Exclude<Choice, { kind: 'lane' }>): Promise<Stopped> | Stopped {
  return choice.kind === 'none' ? noLane(deps, input) : waitForGate(deps, input.transfer, choice.gate)
}

/** The call that delivers a transfer, and its price. */
export interface PricedDelivery {
  readonly intent: Intent
  readonly priced: Priced
}

export async function priceDelivery(deps: StepDeps, { transfer }: AdmitInput, lane: LaneId): Promise<PricedDelivery> {
  const intent = await endpointOf(deps, transfer).intent(transfer)
  const priced = await priceCall({ chain: chainOf(deps, transfer), fees: deps.fees }, { lane, owner: transferId(transfer), intent })
  return { intent, priced }
}

/** Ready at a price that the policy allows; a call that is too dear waits, and holds no nonce meanwhile. */
export async function judge(
  deps: StepDeps,
  { transfer }: AdmitInput,
  lane: LaneId,
  { intent, priced }: PricedDelivery,
): Promise<Ready | Stopped> {
  if (priced.kind === 'wait') return { kind: 'waiting', code: priced.code, reason: priced.reason, retryInMs: dearMs }
  if (priced.kind === 'impossible') return priced
  if (priced.kind === 'priced') {
    const { gasLimit, maxFee, tip, dataFee } = priced.first
    return { kind: 'ready', lane, callHash: callHash(intent), gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) }
  }
  const meaning = endpointOf(deps, transfer).explainRevert(priced.revert, transfer)
  switch (meaning.kind) {
    case 'delivered':
      return settled(deps, transfer)
    case 'permanent':
      return { kind: 'impossible', code: meaning.code, reason: meaning.reason }
    default:
      return { kind: 'waiting', code: meaning.code, reason: meaning.reason, retryInMs: revertMs }
  }
}
