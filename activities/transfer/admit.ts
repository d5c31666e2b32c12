import type { Endpoint, PlannedDelivery } from '../../bridges/port.ts'
import type { Revert } from '../../chains/port.ts'
import { isWithoutLane } from '../../domain/catalogue/errors.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import { denialOf } from '../../domain/settings/settings.ts'
import { defaultParkAfter, mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { callHash } from '../../lanes/deps.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Admission, AdmitInput, KeylessSteps, Passed, Ready, Stopped, Waiting } from '../../temporal/contracts/transfer-steps.ts'
import { settled, showsEffect } from '../checks/effect.ts'
import { priceCall, type Priced } from '../checks/price-call.ts'
import { quarantineOf } from '../checks/losses.ts'
import type { AdmittedCall, StepDeps } from '../deps.ts'
import { chainOf, endpointOf, haltedBy, lanesOf, underOtherConfig } from '../route.ts'
import { chooseLane, noLane, type Target, waitForGate } from './choose-lane.ts'
import type { Refuse } from './confirm-end.ts'
import { feeOf, paidGasOf, paying } from './paid-call.ts'
import { Context } from '@temporalio/activity'

const waitMs = 15_000
const dearMs = 5_000
/** Maximum wait for the next call, ms, even if a contract or a plug-in names a later time. */
const longestWaitMs = 7 * 86_400_000
/** Finality is fast if a transaction in the next block would be final within this time, ms. */
const fastFinalityMs = 10_000

/** Does steps 1 to 3 in one local activity, whose reads are sent together. */
export function createAdmit(deps: StepDeps, refuse: Refuse): KeylessSteps['admit'] {
  return (input) =>
    admissionStep(deps, input, async (target) => {
      const { transfer } = input
      const first = await validate(deps, refuse, target.endpoint, transfer)
      if ('kind' in first) return first
      const isThere = () => showsEffect(deps, transfer, input.disputed)
      const prepared = await prepareCall({ deps, input, target, first, isThere })
      if (prepared.kind !== 'prepared') return prepared
      const ready = await promiseSlot(deps.localLanes, target, transfer, prepared)
      deps.stepTimes?.reached('admitted', transfer, input.startedAt)
      return ready
    })
}

/**
 * Answers that keep the bridge's reservation. Errors keep it too, because the step is tried again. Other answers
 * release it.
 */
const goingOn: ReadonlySet<string> = new Set<(Admission | Passed)['kind']>(['passed', 'ready', 'unsettled'])

async function admissionStep<T extends Admission | Passed>(
  deps: StepDeps,
  { transfer, retriedAt }: AdmitInput,
  step: (target: Target) => Promise<T>,
): Promise<T | Stopped> {
  const foreign = ofOtherRun(transfer)
  if (foreign) return foreign
  const { bridge, targetChain } = transfer
  const isServed = deps.bridges.get(bridge)?.endpoints.get(targetChain) !== undefined
  const other = isServed ? undefined : underOtherConfig(deps, transfer, `the bridge ${bridge} to ${targetChain} is not in the config`)
  if (other) return other
  const target = { endpoint: endpointOf(deps, transfer), chain: chainOf(deps, transfer), lanes: lanesOf(deps, transfer) }
  target.endpoint.retry?.(transfer, retriedAt)
  const result = haltedBy(deps, transfer) ?? (await step(target))
  if (!goingOn.has(result.kind)) target.endpoint.release?.(transfer)
  return result
}

/**
 * Refuses a transfer that its run's id does not name, or that is longer than the submitter accepts. An attacker with
 * access to Temporal can start such a run, and only a rejected run is replaced by the genuine transfer.
 */
function ofOtherRun(transfer: Transfer): Stopped | undefined {
  const id = transferId(transfer)
  const isTooLong = Buffer.byteLength(transfer.message, 'base64') > mostMessageBytes
  if (Context.current().info.workflowExecution?.workflowId === id && !isTooLong) return undefined
  const reason = isTooLong ? `the message is longer than ${mostMessageBytes} bytes` : `the run's id is not that of its transfer, ${id}`
  return { kind: 'rejected', code: 'MESSAGE_MISMATCH', reason }
}

export function createValidate(deps: StepDeps, refuse: Refuse): KeylessSteps['validate'] {
  return (input) =>
    admissionStep(deps, input, async ({ endpoint }) => {
      const validated = await validate(deps, refuse, endpoint, input.transfer)
      return 'kind' in validated ? validated : { kind: 'passed' }
    })
}

/** Step 1. A bad message does not halt the route, because anyone with access to Temporal can forge such a message. */
async function validate(deps: StepDeps, refuse: Refuse, endpoint: Endpoint, transfer: Transfer): Promise<PlannedDelivery | Stopped> {
  const attestation = await endpoint.attest?.(transfer)
  if (attestation) {
    if (attestation.kind === 'attested') return { kind: 'attested', message: Buffer.from(attestation.message).toString('base64') }
    return { ...attestation, kind: 'waiting' }
  }
  const verdict = await endpoint.validate(transfer)
  if (verdict.kind === 'valid') {
    const { delivery = endpoint.delivery(transfer) } = verdict
    const denial = denialOf(deps.settings(), delivery.parties)
    if (denial?.kind === 'waiting') return denial
    return denial ? refuse(transfer, denial) : delivery
  }
  const { kind, code, reason, awaitNewSignatures, unverified, ofConfig = kind === 'declined' } = verdict
  if (kind === 'wait') return { kind: 'waiting', code, reason, retryInMs: waitMs, unverified }
  const other = ofConfig ? underOtherConfig(deps, transfer, `${code}: ${reason}`) : undefined
  return other ?? refuse(transfer, { kind, code, reason, awaitNewSignatures })
}

export function createCheckDelivered(deps: StepDeps): KeylessSteps['checkDelivered'] {
  return (input) => {
    const { transfer, disputed } = input
    return admissionStep(deps, input, async () =>
      (await showsEffect(deps, transfer, disputed)) ? settled(deps, transfer) : { kind: 'passed' },
    )
  }
}

export function createPrepare(deps: StepDeps): KeylessSteps['prepare'] {
  return (input) =>
    admissionStep(deps, input, async (target) => {
      // Another process may have validated the transfer.
      await target.endpoint.demandSigned?.(input.transfer)
      const first = target.endpoint.delivery(input.transfer)
      const prepared = await prepareCall({ deps, input, target, first, isThere: async () => false })
      return prepared.kind === 'prepared' ? prepared.ready : prepared
    })
}

interface Prepared {
  readonly kind: 'prepared'
  readonly ready: Ready
  readonly call: AdmittedCall
}

interface Preparation {
  readonly deps: StepDeps
  readonly input: AdmitInput
  readonly target: Target
  /** The call of a transfer without stages, or of its first stage. */
  readonly first: PlannedDelivery
  /** Whether the chain already shows the effect of the transfer. */
  readonly isThere: () => Promise<boolean>
}

/** `isDoubted`: the call of the stage that one node named reverts. */
interface FirstStage {
  readonly stage?: string | undefined
  readonly isDoubted?: true
}

/**
 * Step 3 (`prepare` in docs/concepts/lifecycle.md). If the contract reverts a second delivery, the effect is not looked
 * for before the simulation: a simulation that succeeds proves that the effect is absent.
 */
async function prepareCall(
  of: Preparation,
  begin: FirstStage = { stage: of.target.endpoint.stages?.first?.(of.input.transfer) },
): Promise<Prepared | Stopped> {
  const { deps, input, target, isThere } = of
  const { transfer } = input
  const { isDoubted } = begin
  const begun = begin.stage !== undefined && { stage: begin.stage, delivery: target.endpoint.delivery(transfer, begin.stage) }
  const next = begun || (await nextCall(of, isDoubted))
  if (next && 'kind' in next) return next
  const { stage, delivery } = next ?? { delivery: of.first }
  const choice = await chooseLane(deps, input, target, paying(delivery, target.chain))
  if (choice.kind !== 'lane') {
    if (await isThere()) return settled(deps, transfer)
    return choice.kind === 'none' ? noLane(deps, transfer, target.lanes) : waitForGate(deps, transfer, choice.gate, target.chain)
  }
  const { lane } = choice
  const paidGas = paidGasOf(delivery, input)
  const price = async () => {
    const chosen = await chooseCall(deps, input, target, delivery)
    const call = { lane, owner: transferId(transfer), intent: chosen.intent, gasAtMost: paidGas?.left, terms: transfer.terms }
    return { ...chosen, priced: await priceCall({ chain: target.chain, fees: deps.fees }, call) }
  }
  const { revertsOnceDelivered: isShown } = delivery
  const [delivered, { intent, isWrapped, quarantine, priced }] = await Promise.all([isShown ? false : isThere(), price()])
  if (delivered || (isShown && priced.kind === 'reverts' && (await isThere()))) return settled(deps, transfer)
  if (priced.kind === 'impossible') return priced
  if (priced.kind === 'wait') {
    const onOther = () => prepareCall({ ...of, input: { ...input, avoid: [...(input.avoid ?? []), lane] } }, begin)
    return waitsOrElse(priced, onOther)
  }
  if (priced.kind === 'reverts') {
    const mayDiffer = next && !isDoubted
    return mayDiffer ? prepareCall(of, { isDoubted: true }) : afterRevert(deps, target.endpoint, input, priced.revert)
  }
  if (quarantine) return quarantine
  const fee = await feeOf(delivery, intent, priced)
  if (typeof fee === 'object') return fee
  const call = { endpoint: target.endpoint, parties: delivery.parties, message: transfer.message, intent, isWrapped }
  return prepared(deps, transfer, { lane, stage, priced, fee, call, reverts: paidGas?.revertsAt(priced.first) })
}

/** @param onOther prepares the call on another lane, which perhaps holds more coins */
async function waitsOrElse(
  priced: Extract<Priced, { kind: 'wait' }>,
  onOther: () => Promise<Prepared | Stopped>,
): Promise<Prepared | Stopped> {
  const waiting = { ...priced, kind: 'waiting', retryInMs: dearMs } as const
  if (priced.code !== 'CALL_TOO_DEAR') return waiting
  const other = await onOther()
  return other.kind === 'waiting' && isWithoutLane(other.code) ? waiting : other
}

interface Preparing {
  readonly lane: LaneId
  readonly stage: string | undefined
  readonly priced: Extract<Priced, { kind: 'priced' }>
  /** Worth of the fee minus the coins of the call, wei. */
  readonly fee: bigint | undefined
  readonly call: Omit<AdmittedCall, 'callHash'>
  /** Maximum number of reverted calls. Undefined: the maximum of the config. */
  readonly reverts: number | undefined
}

function prepared(deps: StepDeps, transfer: Transfer, { lane, stage, priced, fee, call, reverts }: Preparing): Prepared | Stopped {
  const { endpoint, intent } = call
  const plan = endpoint.plan?.(transfer, stage)
  const usual = deps.parkAfter ?? defaultParkAfter
  const parkAfter = reverts === undefined ? deps.parkAfter : { ...usual, reverts: Math.min(usual.reverts, reverts) }
  const coins = BigInt(intent.value)
  const planned = plan && { plan, ...(fee !== undefined && { fee: String(fee + coins) }) }
  const staged = { ...(stage !== undefined && { stage }), ...planned, ...(parkAfter && { parkAfter }) }
  const ready: Ready = { ...priced.first, kind: 'ready', lane, callHash: callHash(intent), ...staged }
  if (deps.shadow) return deps.shadow(transfer, ready, { intent, costWei: priced.cost + coins })
  return { kind: 'prepared', ready, call: { ...call, callHash: ready.callHash } }
}

/**
 * Interprets a revert of the simulation. A contract may revert with any text or error, so only the effect itself shows
 * that the transfer is delivered.
 */
async function afterRevert(deps: StepDeps, endpoint: Endpoint, { transfer, disputed }: AdmitInput, revert: Revert): Promise<Stopped> {
  const meaning = endpoint.explainRevert(revert, transfer)
  const failedCall = revert.isDisputed ? 'disputed' : 'reverted'
  if (meaning.kind === 'delivered') {
    if (await showsEffect(deps, transfer, disputed)) return settled(deps, transfer)
    const reason = `it reverts as if it were delivered, but the chain does not show the effect: ${revert.reason}`
    return { kind: 'waiting', code: 'DELIVERY_REVERTED', reason, retryInMs: waitMs, failedCall }
  }
  const { code, reason } = meaning
  const why = { code, reason, failedCall } as const
  return meaning.kind === 'permanent' ? { kind: 'impossible', ...why } : { kind: 'waiting', ...why, retryInMs: waitMs }
}

/** The next of several calls. Undefined if a single call delivers the transfer. */
async function nextCall(
  { deps, input: { transfer }, target, isThere }: Preparation,
  isDoubted?: boolean,
): Promise<Stopped | { readonly stage: string; readonly delivery: PlannedDelivery } | undefined> {
  const { stages, delivery } = target.endpoint
  const asked = stages?.next(transfer, isDoubted)
  if (!asked) return undefined
  asked.catch(() => {})
  if (await isThere()) return settled(deps, transfer)
  const next = await asked
  if (next.kind === 'stage') return { stage: next.stage, delivery: delivery(transfer, next.stage) }
  const { code, reason } = next
  if (next.kind === 'never') return { kind: 'impossible', code, reason, failedCall: 'reverted' }
  const opensInMs = next.opensAt === undefined ? 0 : next.opensAt * 1000 - Date.now()
  return { kind: 'waiting', code, reason, retryInMs: Math.min(Math.max(waitMs, opensInMs), longestWaitMs) }
}

/** After a revert, or in a quarantine, chooses a call that runs no code of the recipient, if the bridge has one. */
async function chooseCall(
  { losses }: StepDeps,
  { retriedAt, wrapped: isNeeded }: AdmitInput,
  { chain }: Target,
  { call, intent: made, parties }: PlannedDelivery,
): Promise<{ readonly intent: Intent; readonly isWrapped: boolean; readonly quarantine?: Waiting | undefined }> {
  const intent = made ?? (await call())
  const quarantine = await quarantineOf({ losses, chain }, { parties, retriedAt })
  if (!quarantine && !isNeeded) return { intent, isWrapped: false }
  const wrapped = await call('wrapped')
  return wrapped.data === intent.data ? { intent, isWrapped: false, quarantine } : { intent: wrapped, isWrapped: true }
}

export async function promiseSlot(
  localLanes: StepDeps['localLanes'],
  { chain, endpoint }: Pick<Target, 'chain' | 'endpoint'>,
  transfer: Transfer,
  { ready, call }: Omit<Prepared, 'kind'>,
): Promise<Ready> {
  const slots = localLanes?.get(ready.lane)?.slots
  const height = chain.heads.current?.latest.height
  const isFast = height !== undefined && chain.blockTimeMs + chain.msToFinality(height + 1) <= fastFinalityMs
  if (!slots || !isFast || endpoint.batches?.groupOf(transfer)) return ready
  // The call of a stage or of a plan is not kept, because it has another endpoint.
  const kept = ready.stage === undefined && ready.plan === undefined ? call : undefined
  return (await slots.promise(transferId(transfer), kept)) ? { ...ready, local: true } : ready
}
