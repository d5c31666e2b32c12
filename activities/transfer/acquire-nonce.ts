import type { Endpoint, PlannedDelivery } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type Intent, workflowOf } from '../../domain/lane/lane.ts'
import { refusalCodes } from '../../domain/lane/messages.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import { callHash as hashOf, laneCall } from '../../lanes/deps.ts'
import type { NonceRequest, Refused } from '../../lanes/ledger/nonce-requests.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import { defaultFailoverTimes } from '../../temporal/contracts/failover.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { type BatchRouting, waitForBatchMs } from '../batch/batch-routing.ts'
import { isDelivered } from '../checks/effect.ts'
import { type NoSlot, restrictionOf } from '../checks/restrictions.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import type { Context } from '@temporalio/activity'

/** Share of the heartbeat time-out for which a read is trusted. After this time, another process may have the step. */
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

/** Gets a nonce, with restrictions checked before and after. A nonce that the transfer holds is used anyway. */
export async function acquire(
  deps: AcquireDeps,
  input: BroadcastInput,
  { cancellationSignal: signal, info }: Pick<Context, 'cancellationSignal'> & { readonly info: TryInfo },
): Promise<Acquisition> {
  const { transfer, lane, intentId, retriedAt, seenAt, mode } = input
  const { agent, batchRouting: routing } = deps
  const endpoint = endpointOf(deps, transfer, input)
  const { call, parties } = endpoint.delivery(transfer)
  const trustedMs = (info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs) * trustedShare
  const maybeSent = mode !== 'new' || info.attempt > 1
  const isSeen = effectReader(deps.chain, endpoint, transfer, { readAt: info.currentAttemptScheduledTimestampMs, trustedMs, maybeSent })
  const { intent, isWrapped } = await admittedCall(call, input)
  const request = requestOf(input, intent)
  if (maybeSent) {
    const held = await agent.find(request, signal)
    if (held.kind === 'acquired') return held
    if (held.why !== 'none') return refused(held)
    const batch = await routing?.find(endpoint, transfer, intentId)
    if (batch) return { kind: 'acquired', pending: batch.pending, batch }
  }
  const candidate = { ...request, intentId, transfer, parties, maybeSent, trustedMs, retriedAt, seenAt, isWrapped }
  const restriction = () => restrictionOf(deps, endpoint, candidate, lane)

  if (await isSeen()) return { kind: 'seen' }
  // No nonce to follow: final without the effect, or lost with the ledger. So the call needs a new simulation.
  if (mode === 'follow') return { kind: 'withdrawn' }
  const restricted = await restriction()
  if (restricted) return restricted

  // A batch has one price for all members, so a transfer with its own fee limit goes alone.
  const { maxFeePerGas, maxFeePerTransaction } = transfer.terms ?? {}
  const isAlone = (maxFeePerGas ?? maxFeePerTransaction) !== undefined || deps.losses?.goesAlone(parties)
  const shared = isAlone ? undefined : await routing?.enqueue(candidate, endpoint, { signal, timeoutMs: waitForBatchMs })
  if (shared?.kind === 'member') return { kind: 'acquired', pending: shared.batch.pending, batch: shared.batch }
  if (shared && shared.kind !== 'alone') return shared.kind === 'refused' ? refused(shared) : shared
  const acquired = await agent.acquire(request, { signal, timeoutMs: deps.forNonceMs ?? 60_000 }).catch(noSlotIfHalted)
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const { pending } = acquired
  const stop = (await isSeen()) ? ({ kind: 'seen' } as const) : pending.unsigned ? await restriction() : undefined
  if (!stop) return acquired
  await agent.release(pending)
  return stop
}

async function admittedCall(call: PlannedDelivery['call'], { callHash }: BroadcastInput) {
  const intent = await call()
  const isWrapped = hashOf(intent) !== callHash
  return { intent: isWrapped ? await call('wrapped') : intent, isWrapped }
}

function requestOf(input: BroadcastInput, intent: Intent): NonceRequest {
  const { transfer, lane, intentId, gasLimit, maxFee, tip, dataFee, priority, deadline } = input
  const call = laneCall(intentId, intent)
  if (call.owner.callHash !== input.callHash) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowOf(intentId), lane } })
  return {
    ...call,
    terms: transfer.terms,
    first: { kind: 'call', gasLimit, maxFee, tip, dataFee },
    priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    deadline,
  }
}

/** Returns a reader of the effect. It reads at each block if an unrecorded call may have been sent. */
function effectReader(
  chain: Chain,
  endpoint: Endpoint,
  transfer: Transfer,
  { readAt, trustedMs, maybeSent }: { readAt: number; trustedMs: number; maybeSent: boolean },
) {
  let block: string | undefined = 'none'
  return async (): Promise<boolean> => {
    const latest = chain.heads.current?.latest.hash
    if (Date.now() - readAt <= trustedMs && !(maybeSent && latest !== block)) return false
    readAt = Date.now()
    block = latest
    return isDelivered(chain, endpoint, transfer)
  }
}

/** The key judges a halt by the call. Without a message, a call may be any source's, and waits for all of them. */
function noSlotIfHalted(error: unknown): NoSlot {
  if (!(error instanceof RelayerError) || error.code !== 'HALTED') throw error
  return { kind: 'no-slot', code: error.code, reason: error.about }
}

function refused({ why, detail }: Refused): Acquisition {
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: `${why}: ${detail}` }
}
