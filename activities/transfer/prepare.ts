import type { Simulation } from '../../chains/port.ts'
import type { FeePolicy } from '../../domain/fees/policy.ts'
import { selectorOf } from '../../domain/fees/policy.ts'
import type { FeeQuote } from '../../domain/fees/fees.ts'
import { firstOffer } from '../../domain/fees/fees.ts'
import type { Intent } from '../../domain/intent.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { callHash } from '../../lanes/call-hash.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, Ready, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { settled } from './check-delivered.ts'
import { admissionStep } from './admission-step.ts'
import { waitForGate } from './gate-wait.ts'
import type { Choice } from './choose-lane.ts'
import { chooseLane, noLane } from './choose-lane.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf, endpointOf } from '../deps.ts'
import { haltedBy } from './restrictions.ts'

/** First wait after a call that reverts, ms. The workflow doubles it each time. */
const revertMs = 15_000
/** Between two looks at a market that is too dear, ms, to begin with; the workflow doubles it up to a minute. */
const dearMs = 5_000
/** Room over the estimate where no policy sets it. */
const commonGasFactor = 1.2

/** Step 3: chooses the lane, simulates the call from its address, quotes the fee. A revert here costs nothing. */
export function createPrepare(deps: StepDeps) {
  return async function prepare(input: AdmitInput): Promise<Ready | Stopped> {
    return admissionStep(deps, input.transfer, async (reserve) => {
      const halted = haltedBy(deps, input.transfer)
      if (halted) return halted
      const choice = await chooseLane(deps, input, reserve)
      if (choice.kind !== 'lane') return unchosen(deps, input, choice)
      return judge(deps, input, choice.lane, await rehearse(deps, input, choice.lane))
    })
  }
}

/** No lane delivers it now. */
export function unchosen(deps: StepDeps, input: AdmitInput, choice: Exclude<Choice, { kind: 'lane' }>): Promise<Stopped> | Stopped {
  return choice.kind === 'none' ? noLane(deps, input) : waitForGate(deps, input.transfer, choice.gate)
}

export interface Rehearsal {
  readonly intent: Intent
  readonly simulation: Simulation
  readonly quote: FeeQuote
  /** What the chain charges beside the gas, wei, decimal. */
  readonly dataFee: string
  readonly policy: FeePolicy
}

export async function rehearse(deps: StepDeps, { transfer }: AdmitInput, lane: LaneId): Promise<Rehearsal> {
  const chain = chainOf(deps, transfer)
  const intent = await endpointOf(deps, transfer).intent(transfer)
  const { to: contract, data } = intent
  const policy = deps.fees({ chain: transfer.targetChain, transfer: transferId(transfer), lane, contract, selector: selectorOf(data) })
  const [simulation, quote, dataFee] = await Promise.all([
    chain.simulate(intent, laneAddress(lane), policy.gasFactor ?? commonGasFactor),
    chain.quote(),
    chain.dataFee(intent),
  ])
  return { intent, simulation, quote, dataFee, policy }
}

export async function judge(deps: StepDeps, { transfer }: AdmitInput, lane: LaneId, rehearsal: Rehearsal): Promise<Ready | Stopped> {
  const { simulation } = rehearsal
  if (simulation.ok) return offered(lane, simulation.gas, rehearsal)
  const meaning = endpointOf(deps, transfer).explainRevert(simulation.revert, transfer)
  switch (meaning.kind) {
    case 'delivered':
      return settled(deps, transfer)
    case 'permanent':
      return { kind: 'impossible', code: meaning.code, reason: meaning.reason }
    default:
      return { kind: 'waiting', code: meaning.code, reason: meaning.reason, retryInMs: revertMs }
  }
}

/** Ready at the market's price or what the policy lets of it; too dear waits, and holds no nonce meanwhile. */
function offered(lane: LaneId, gasLimit: string, { intent, quote, dataFee, policy }: Rehearsal): Ready | Stopped {
  const offer = firstOffer(quote, policy, { gasLimit, dataFee })
  if (offer.kind === 'wait') return { kind: 'waiting', code: offer.code, reason: offer.reason, retryInMs: dearMs }
  if (offer.kind === 'impossible') return offer
  const { maxFee, tip } = offer
  return { kind: 'ready', lane, callHash: callHash(intent), gasLimit, maxFee, tip, ...(dataFee !== '0' && { dataFee }) }
}
