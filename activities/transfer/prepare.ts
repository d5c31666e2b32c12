import type { Reserve } from '../../bridges/gates/with-reservation.ts'
import { callHash } from '../../lanes/lane-call.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, KeylessSteps, Ready, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { settled } from '../checks/effect.ts'
import { priceCall } from '../checks/price-call.ts'
import { admissionStep, quarantineOf } from '../checks/restrictions.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { chooseLane, noLane, waitForGate } from './choose-lane.ts'

const revertMs = 15_000
const dearMs = 5_000

/** Step 3 as a durable activity: chooses the lane, simulates, quotes the fee. A revert here costs nothing. */
export function createPrepare(deps: StepDeps): KeylessSteps['prepare'] {
  return (input) => admissionStep(deps, input.transfer, (reserve) => prepareUnless(async () => false, deps, input, reserve))
}

/** Step 3, unless the effect is there: a second delivery reverts, which usually shows in the simulation. */
export async function prepareUnless(
  isThere: () => Promise<boolean>,
  deps: StepDeps,
  input: AdmitInput,
  reserve: Reserve,
): Promise<Ready | Stopped> {
  const { transfer } = input
  const choice = await chooseLane(deps, input, reserve)
  if (choice.kind !== 'lane') {
    if (await isThere()) return settled(deps, transfer)
    return choice.kind === 'none' ? noLane(deps, transfer) : waitForGate(deps, transfer, choice.gate)
  }
  const { lane } = choice
  const endpoint = endpointOf(deps, transfer)
  const price = async () => {
    const intent = await endpoint.intent(transfer)
    const pricing = { chain: chainOf(deps, transfer), fees: deps.fees }
    return { intent, ...(await priceCall(pricing, { lane, owner: transferId(transfer), intent })) }
  }
  const isShown = endpoint.revertsOnceDelivered?.(transfer) ?? false
  const [delivered, priced] = await Promise.all([isShown ? false : isThere(), price()])
  if (delivered || (isShown && priced.kind === 'reverts' && (await isThere()))) return settled(deps, transfer)
  if (priced.kind === 'wait') return { kind: 'waiting', code: priced.code, reason: priced.reason, retryInMs: dearMs }
  if (priced.kind === 'impossible') return { kind: 'impossible', code: priced.code, reason: priced.reason }
  if (priced.kind === 'reverts') {
    const meaning = endpoint.explainRevert(priced.revert, transfer)
    if (meaning.kind === 'delivered') return settled(deps, transfer)
    const { code, reason } = meaning
    return meaning.kind === 'permanent' ? { kind: 'impossible', code, reason } : { kind: 'waiting', code, reason, retryInMs: revertMs }
  }
  const quarantine = quarantineOf(deps, transfer, input.retriedAt)
  if (quarantine) return quarantine
  const earned = endpoint.earned?.(transfer)
  if (earned !== undefined && earned < priced.cost) {
    const reason = `the fee is worth ${earned} wei, the delivery costs ${priced.cost} wei now`
    return { kind: 'waiting', code: 'FEE_BELOW_COST', reason, retryInMs: revertMs }
  }
  const { kind: _, ...offer } = priced.first
  return { ...offer, kind: 'ready', lane, callHash: callHash(priced.intent) }
}
