import type { Endpoint } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type Intent, workflowOf } from '../../domain/lane/lane.ts'
import { refusalCodes } from '../../domain/lane/messages.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import { callHash as hashOf } from '../../lanes/deps.ts'
import type { NonceRequest, Refused } from '../../lanes/ledger/nonce-requests.ts'
import { signingRefusal } from '../../lanes/transaction/attempts.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import { ageOf, type Moment, pastByOtherClock, present } from '../../runtime/moment.ts'
import { defaultFailoverTimes } from '../../temporal/contracts/failover.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { type BatchRouting, waitForBatchMs } from '../batch/batch-routing.ts'
import type { BatchCandidate } from '../batch/build-batch.ts'
import { isDelivered } from '../checks/effect.ts'
import type { AdmittedCall, StepDeps } from '../deps.ts'
import { endpointOf, type NoSlot, restrictionOf } from '../route.ts'
import type { Context } from '@temporalio/activity'

/** Share of the heartbeat time-out for which a read of the effect is trusted: later, another process may act. */
const trustedShare = 0.8

export interface AcquireDeps extends Pick<StepDeps, 'bridges' | 'settings' | 'losses'> {
  readonly chain: Chain
  readonly agent: Pick<LaneAgent, 'find' | 'acquire' | 'release'>
  readonly batchRouting?: BatchRouting | undefined
  readonly forNonceMs?: number
}

export type Acquisition =
  | { readonly kind: 'acquired'; readonly pending: PendingTransaction; readonly batch?: Batch }
  | Extract<BroadcastResult, { kind: 'no-slot' | 'seen' | 'withdrawn' }>

type TryInfo = Pick<Context['info'], 'attempt' | 'currentAttemptScheduledTimestampMs' | 'heartbeatTimeoutMs'>

/**
 * Gets a nonce for the transfer, alone or in a batch. Checks restrictions before the wait for the nonce, and again
 * after the wait if they may have changed. If the transfer already holds a nonce, there are no checks.
 */
export async function acquire(
  deps: AcquireDeps,
  input: BroadcastInput,
  { cancellationSignal: signal, info }: Pick<Context, 'cancellationSignal'> & { readonly info: TryInfo },
  admitted?: AdmittedCall,
): Promise<Acquisition> {
  const { transfer, lane, intentId, retriedAt, seenAt, mode } = input
  const { agent } = deps
  const isOfInput = admitted?.message === transfer.message && admitted.callHash === input.callHash
  const { endpoint, parties, intent, isWrapped } = isOfInput ? admitted : await recordedCall(deps, input)
  const trustedMs = (info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs) * trustedShare
  const maybeSent = mode !== 'new' || info.attempt > 1
  const isSeen = effectReader(deps.chain, endpoint, transfer, {
    readAt: pastByOtherClock(info.currentAttemptScheduledTimestampMs),
    trustedMs,
    maybeSent,
  })
  const request = requestOf(input, intent)
  const known = maybeSent && (await findHeld(deps, input, request, endpoint, signal))
  if (known) return known
  const candidate = { ...request, intentId, transfer, parties, maybeSent, trustedMs, retriedAt, seenAt, isWrapped }
  const restriction = () => restrictionOf(deps, endpoint, candidate, lane)

  if (await isSeen()) return { kind: 'seen' }
  // The nonce is final without the effect, or was lost with the ledger, so a new round simulates the call again.
  if (mode === 'follow') return { kind: 'withdrawn' }
  // The values that can bring new restrictions, apart from the bridge's gate. Time alone only ends restrictions.
  const basis = () => [deps.settings(), deps.losses?.changes]
  const before = basis()
  const restricted = await restriction()
  if (restricted) return restricted

  const shared = await share(deps, endpoint, candidate, signal)
  if (shared) return shared
  const acquired = await agent.acquire(request, { signal, timeoutMs: deps.forNonceMs ?? 60_000 }).catch(noSlotIfOrdered)
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const { pending } = acquired
  const mayDiffer = endpoint.reserve !== undefined || basis().some((value, index) => value !== before[index])
  const stop = (await isSeen()) ? ({ kind: 'seen' } as const) : pending.unsigned && mayDiffer ? await restriction() : undefined
  if (!stop) return acquired
  await agent.release(pending)
  return stop
}

async function findHeld(
  { agent, batchRouting }: AcquireDeps,
  { transfer, intentId }: BroadcastInput,
  request: NonceRequest,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Acquisition | undefined> {
  const held = await agent.find(request, signal)
  if (held.kind === 'acquired') return held
  if (held.why !== 'none') return refused(held)
  const batch = await batchRouting?.find(endpoint, transfer, intentId)
  return batch && { kind: 'acquired', pending: batch.pending, batch }
}

/** Puts the transfer into a batch, and waits for the batch's nonce. Undefined if the transfer must go alone. */
async function share(
  { batchRouting, losses }: AcquireDeps,
  endpoint: Endpoint,
  candidate: BatchCandidate,
  signal: AbortSignal,
): Promise<Acquisition | undefined> {
  // A batch has one price for all members, so a transfer with its own fee limit goes alone.
  const { maxFeePerGas, maxFeePerTransaction } = candidate.transfer.terms ?? {}
  if (!endpoint.batches || (maxFeePerGas ?? maxFeePerTransaction) !== undefined || losses?.goesAlone(candidate.parties)) return undefined
  const shared = await batchRouting?.enqueue(candidate, endpoint, { signal, timeoutMs: waitForBatchMs }).catch(noSlotIfOrdered)
  if (!shared || shared.kind === 'alone') return undefined
  if (shared.kind === 'member') return { kind: 'acquired', pending: shared.batch.pending, batch: shared.batch }
  return shared.kind === 'refused' ? refused(shared) : shared
}

/** Makes the call whose hash the admission recorded. Throws LANE_CONFLICT if the bridge now makes another call. */
async function recordedCall(deps: AcquireDeps, input: BroadcastInput): Promise<Omit<AdmittedCall, 'message' | 'callHash'>> {
  const { transfer, lane, intentId, callHash } = input
  const endpoint = endpointOf(deps, transfer, input)
  const { call, parties } = endpoint.delivery(transfer)
  const usual = await call()
  const isWrapped = hashOf(usual) !== callHash
  const intent = isWrapped ? await call('wrapped') : usual
  if (isWrapped && hashOf(intent) !== callHash) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowOf(intentId), lane } })
  return { endpoint, parties, intent, isWrapped }
}

function requestOf(input: BroadcastInput, intent: Intent): NonceRequest {
  const { transfer, intentId, callHash, gasLimit, maxFee, tip, dataFee, priority, deadline } = input
  return {
    owner: { intentId, callHash, ...(intent.value !== '0' && { value: intent.value }) },
    intent,
    terms: transfer.terms,
    first: { kind: 'call', gasLimit, maxFee, tip, dataFee },
    priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    deadline,
  }
}

/** Returns a reader of the effect. It trusts a read for `trustedMs`, or for one block if a call may have been sent. */
function effectReader(
  chain: Chain,
  endpoint: Endpoint,
  transfer: Transfer,
  { readAt, trustedMs, maybeSent }: { readAt: Moment; trustedMs: number; maybeSent: boolean },
) {
  let block: string | undefined = 'none'
  return async (): Promise<boolean> => {
    const latest = chain.heads.current?.latest.hash
    if (ageOf(readAt) <= trustedMs && !(maybeSent && latest !== block)) return false
    readAt = present()
    block = latest
    return isDelivered(chain, endpoint, transfer)
  }
}

/** Turns the error of a key that refused because of a halt or a deny rule into a wait. Throws all other errors. */
export function noSlotIfOrdered(error: unknown): NoSlot {
  if (!(error instanceof RelayerError) || signingRefusal(error) !== 'order') throw error
  return { kind: 'no-slot', code: error.code, reason: error.about }
}

function refused({ why, detail }: Refused): Acquisition {
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: `${why}: ${detail}` }
}
