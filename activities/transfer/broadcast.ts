import type { Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import { costOf } from '../../domain/transfer/attempts.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import type { StepSlots } from '../../lanes/step-slots.ts'
import { signingRefusal } from '../../lanes/transaction/attempts.ts'
import type { PendingTransaction, PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { TimedStep } from '../../observability/step-times.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { BroadcastInput, BroadcastResult, Landed, LaneSteps } from '../../temporal/contracts/transfer-steps.ts'
import { isFinal, whyUseless } from '../checks/effect.ts'
import { recordLoss } from '../checks/record-loss.ts'
import type { AdmittedCall, LocalLane, LocalLanes, StepDeps } from '../deps.ts'
import { endpointOf, type NoSlot } from '../route.ts'
import type { BeatingStep } from '../run-step.ts'
import { acquire, type AcquireDeps, type Acquisition, noSlotIfOrdered } from './acquire-nonce.ts'
import type { Context } from '@temporalio/activity'

export interface BroadcastDeps extends AcquireDeps, Pick<StepDeps, 'stepTimes'> {
  readonly agent: LaneAgent
  readonly slots?: StepSlots
  /** ms for which a step follows its transaction. After this time, another step may have the slot. Default: 30 s. */
  readonly followMs?: number
}

/** Time limits of a local broadcast, ms: a few blocks. After these times, a step on the lane's queue continues. */
const localTimes = { forNonceMs: 5_000, followMs: 15_000 } as const

const laneCheckMs = 3_000

type Included = Extract<PendingTransactionState, { kind: 'included' }>

/** Step 4: gets a nonce, signs, sends and follows the transaction. After a crash, signs the same bytes. */
export function createBroadcast(deps: BroadcastDeps): BeatingStep<BroadcastInput, BroadcastResult> {
  return async (input, context, enter) => {
    const { slots } = deps
    const step = () => run(deps, input, { context, enter })
    return slots ? slots.runQueued(context.cancellationSignal, step) : step()
  }
}

export function createLocalLane({ slots, ...deps }: BroadcastDeps & { readonly slots: StepSlots<AdmittedCall> }): LocalLane {
  return { slots, broadcast: (input, context, enter, admitted) => run({ ...deps, ...localTimes }, input, { context, enter, admitted }) }
}

/**
 * Runs `broadcast` on the queue of the transfer's workflow. The lane's ledger and step slots limit it as they do on the
 * lane's queue.
 */
export function createBroadcastLocally(lanes?: LocalLanes): BeatingStep<BroadcastInput, BroadcastResult | { kind: 'elsewhere' }> {
  return async (input, context, enter) => {
    const lane = lanes?.get(input.lane)
    // A transaction that may have been sent is followed on the lane's queue, where the step is retried.
    if (!lane || input.mode !== 'new') return { kind: 'elsewhere' }
    const slot = lane.slots.takeLocal(transferId(input.transfer))
    if (!slot) return { kind: 'elsewhere' }
    try {
      const result = await lane.broadcast(input, context, enter, slot.kept)
      return result.kind === 'no-slot' ? { kind: 'elsewhere' } : result
    } finally {
      slot.free()
    }
  }
}

export function createExpedite({ agent, batchRouting }: Pick<BroadcastDeps, 'agent' | 'batchRouting'>): LaneSteps['expedite'] {
  return async ({ lane, intentId }) => {
    const pending = agent.pendingOf(intentId) ?? batchRouting?.driven(intentId)?.pending
    if (lane === agent.lane && pending?.unmined) await pending.bump()
  }
}

interface Running {
  readonly context: Context
  readonly enter: (phase: string) => void
  readonly admitted?: AdmittedCall | undefined
}

async function run(deps: BroadcastDeps, input: BroadcastInput, running: Running): Promise<BroadcastResult> {
  const result = await deliver(deps, input, running)
  failpoint('activity-done-unreported')
  return result
}

async function deliver(deps: BroadcastDeps, input: BroadcastInput, { context, enter, admitted }: Running): Promise<BroadcastResult> {
  const { agent } = deps
  if (agent.lane !== input.lane) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
  const reached = timesOfSteps(deps, input, context.info)
  const acquired = await acquire(deps, input, context, admitted)
  if (context.cancellationSignal.aborted) await context.cancelled
  if (acquired.kind !== 'acquired') return acquired

  const { pending, batch } = acquired
  enter(batch ? `nonce ${pending.nonce} in ${batch.id}` : `nonce ${pending.nonce}`)
  reached('nonce')
  const stopped = batch ? undefined : await signAndSend(agent, pending)
  if (stopped) return stopped
  reached('broadcast')
  const result = await follow(deps, input, { ...acquired, context, enter, reached })
  return batch ? asMember(batch, result) : result
}

/**
 * After a failure, gives the nonce back if possible. Undefined if the nonce must be followed: either the call was sent,
 * or the key refused because of an order, and the nonce cannot be given back because an earlier process may have sent
 * the call. Throws other errors.
 */
async function signAndSend(agent: LaneAgent, pending: PendingTransaction): Promise<NoSlot | undefined> {
  try {
    await pending.signAndSend()
    return undefined
  } catch (error) {
    if (await agent.giveUp(pending, error)) return noSlotIfOrdered(error)
    if (signingRefusal(error) === 'order') return undefined
    throw error
  }
}

function timesOfSteps({ stepTimes }: BroadcastDeps, { transfer, mode }: BroadcastInput, info: Context['info']) {
  const isFirst = mode !== 'follow' && info.attempt === 1
  let since = isFirst ? info.currentAttemptScheduledTimestampMs : undefined
  return (step: TimedStep): number | undefined => {
    since = stepTimes && since !== undefined ? stepTimes.reached(step, transfer, since) : undefined
    return since
  }
}

interface Following extends Extract<Acquisition, { kind: 'acquired' }> {
  readonly context: Context
  readonly enter: (phase: string) => void
  readonly reached: ReturnType<typeof timesOfSteps>
}

async function follow(deps: BroadcastDeps, input: BroadcastInput, following: Following): Promise<BroadcastResult> {
  const { transfer } = input
  const { pending, batch, context, reached } = following
  const signal = context.cancellationSignal
  const until = performance.now() + (deps.followMs ?? 30_000)
  for (;;) {
    await untilIncluded(following, deps.agent, until)
    if (signal.aborted) await context.cancelled
    const { state } = pending
    if (state.kind !== 'included') return unincluded(deps, input, following, state)
    const includedAt = reached('included')
    // Recorded before the block is final, because many more calls to the recipient could revert until then.
    if (state.noop) await recordRefused(deps, input, following)
    else await recordLoss(deps, transfer, state.receipt, { shared: batch !== undefined, call: input })
    // The batch had no effect, so its members are admitted again without a wait for finality.
    if (batch && (state.noop || endpointOf(deps, transfer).hasEffect(state.receipt, transfer) === false)) return { kind: 'seen' }
    if (!state.final && (state.noop || performance.now() + deps.chain.msToFinality(state.receipt.block.height) <= until))
      await pending.until((now) => now.kind !== 'included' || now.final, until - performance.now(), signal)
    const now = pending.state
    if (now.kind === 'pending' && performance.now() < until) continue
    if (now.kind !== 'included') return unincluded(deps, input, following, now)
    // The step stays pending, because `confirm` would count the no-op as a call that reverted. Once the no-op is final,
    // the nonce counts as spent.
    if (now.noop && !now.final) return stillPending(pending, `a no-op is in block ${now.receipt.block.height}, which is not final yet`)
    const landed = landedBy(pending, now.receipt, batch)
    if (!now.final) {
      const seenInBlock = includedAt === undefined ? landed : { ...landed, includedAt }
      return { kind: 'included', landed: seenInBlock, finalInMs: deps.chain.msToFinality(now.receipt.block.height) }
    }
    const result = await finalResult(deps, input, landed, now)
    if (result.kind === 'delivered') reached('final')
    count(deps, input, landed, result)
    return result
  }
}

function count({ stepTimes }: BroadcastDeps, { transfer, seenAt, fee }: BroadcastInput, landed: Landed, { kind }: BroadcastResult): void {
  if (landed.batch === undefined && (kind === 'reverted' || kind === 'seen')) stepTimes?.useless(transfer, costOf(landed))
  if (kind === 'delivered' || kind === 'passed') stepTimes?.useful(transfer, costOf(landed))
  if (kind === 'delivered') stepTimes?.delivered(transfer, seenAt, fee)
}

/** Waits until a block has the transaction. Ends early if the lane is forbidden: another lane may then deliver. */
async function untilIncluded({ pending, enter, context }: Following, agent: LaneAgent, until: number): Promise<void> {
  const signal = context.cancellationSignal
  while (performance.now() < until && !signal.aborted && agent.view?.closed?.why !== 'forbidden') {
    enter(`following nonce ${pending.nonce}, ${pending.attempts} attempts`)
    if (await pending.until(({ kind }) => kind !== 'pending', Math.min(laneCheckMs, until - performance.now()), signal)) return
  }
}

function landedBy({ nonce, attempts, tried }: PendingTransaction, receipt: Receipt, batch?: Batch): Landed {
  const { hash: txHash, block } = receipt
  const of = { nonce, txHash, blockHeight: block.height, blockHash: block.hash, gasPaid: gasPaid(receipt), attempts, tried }
  return batch ? { ...of, gasPaid: String(BigInt(of.gasPaid) / BigInt(batch.members.length)), batch: batch.id } : of
}

/**
 * The result if the call is in no block. If every node refused the call, its no-op counts as a revert, unless a block
 * may have the effect.
 */
async function unincluded(
  deps: BroadcastDeps,
  input: BroadcastInput,
  following: Following,
  state: Exclude<PendingTransactionState, Included>,
): Promise<BroadcastResult> {
  const { pending, batch } = following
  if (state.kind === 'pending') return stillPending(pending, state.note)
  const { nonce, tried, refusedCall, refusedByFew } = pending
  await recordRefused(deps, input, following)
  if (!refusedCall || batch || !(await isMissing(deps, input)))
    return { kind: 'spent', nonce, by: state.by, tried, ...(refusedByFew && !batch && { refused: refusedByFew }) }
  const landed = landedBy(pending, refusedCall.receipt)
  deps.stepTimes?.useless(input.transfer, costOf(landed))
  return { kind: 'reverted', landed, reason: refusedCall.reason, failedCall: 'refused' }
}

async function recordRefused(deps: BroadcastDeps, input: BroadcastInput, { pending, batch }: Following): Promise<void> {
  const call = { shared: batch !== undefined, call: input, isUseless: true }
  if (pending.refusedCall) await recordLoss(deps, input.transfer, pending.refusedCall.receipt, call)
}

async function isMissing(deps: BroadcastDeps, input: BroadcastInput): Promise<boolean> {
  const endpoint = endpointOf(deps, input.transfer, input)
  const isShown = await isFinal(deps.chain, endpoint, input.transfer)
  return isShown === false && !(await endpoint.delivered(input.transfer, 'latest'))
}

function stillPending({ nonce, attempts, tried }: PendingTransaction, reason: string): BroadcastResult {
  return { kind: 'pending', nonce, attempts, reason, tried }
}

/** Reads the effect before a transfer or its round ends, because a receipt alone is no proof. */
async function finalResult(
  deps: AcquireDeps,
  input: BroadcastInput,
  landed: Landed,
  { noop, receipt }: Included,
): Promise<BroadcastResult> {
  const { chain } = deps
  const { transfer, stage, plan } = input
  const endpoint = endpointOf(deps, transfer, input)
  const hasEffect = noop ? false : endpoint.hasEffect(receipt, transfer)
  // The two reads start together, so that they share a request.
  const [shows, isWhole] = await Promise.all([
    isFinal(chain, endpoint, transfer),
    stage === undefined || isFinal(chain, endpointOf(deps, transfer, { plan }), transfer),
  ])
  if (shows && hasEffect !== false) return { kind: isWhole ? 'delivered' : 'passed', landed }
  // Another transaction delivered first, or a node gave a wrong receipt.
  if (shows) return { kind: 'seen' }
  const absent = shows === false && hasEffect !== true && !(await endpoint.delivered(transfer, 'latest'))
  if (absent) {
    if (receipt.status === 'success') await recordLoss(deps, transfer, receipt, { shared: false, call: input, isUseless: true })
    return { kind: 'reverted', landed, reason: whyUseless(receipt), failedCall: 'reverted' }
  }
  return { kind: 'included', landed, finalInMs: chain.blockTimeMs }
}

/**
 * The result for a member of a batch. If the batch failed, the member is admitted again, because another member may be
 * the cause.
 */
function asMember({ id, members }: Batch, result: BroadcastResult): BroadcastResult {
  switch (result.kind) {
    case 'pending':
      return { ...result, reason: `in ${id} with ${members.length - 1} others: ${result.reason}` }
    case 'spent':
    case 'reverted':
      return { kind: 'seen' }
    default:
      return result
  }
}
