import { gasPaid } from '../../domain/fees/fees.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { PendingTransaction, PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import type { BroadcastResult, Landed } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf } from '../deps.ts'
import type { AcquireDeps } from './acquire-nonce.ts'
import { isFinal } from './delivery-checks.ts'

/** Between two looks at the lane while a transaction is in no block, ms. */
const lookMs = 3_000

type Included = Extract<PendingTransactionState, { kind: 'included' }>

/** Until when a transaction is followed, ms since the epoch, unless the step is cancelled. */
type FollowLimits = { readonly until: number; readonly signal: AbortSignal }

/** Resolves once the transaction is in a block, or nothing can bring it there, or the time is over. A forbidden lane ends it, too: another lane may deliver. */
export async function untilIncluded(pending: PendingTransaction, agent: LaneAgent, { until, signal }: FollowLimits): Promise<void> {
  while (Date.now() < until && !signal.aborted && agent.view?.closed?.why !== 'forbidden') {
    if (await pending.until(({ kind }) => kind !== 'pending', Math.min(lookMs, until - Date.now()), signal)) return
  }
}

/** What the state of a transaction means for its transfer. Where finality is near, it is waited for. Undefined: it fell out of its block meanwhile. */
export async function resultOf(
  deps: AcquireDeps,
  transfer: Transfer,
  pending: PendingTransaction,
  { until, signal }: FollowLimits,
): Promise<BroadcastResult | undefined> {
  const first = pending.state
  if (first.kind !== 'included') return unincluded(pending, first)
  const { chain } = deps
  if (!first.final && Date.now() + chain.msToFinality(first.receipt.block.height) <= until) {
    await pending.until((now) => now.kind !== 'included' || now.final, until - Date.now(), signal)
  }
  const { state } = pending
  if (state.kind === 'pending' && Date.now() < until) return undefined
  if (state.kind !== 'included') return unincluded(pending, state)
  const landed = landedAs(pending, state)
  if (state.final) return finalResult(deps, transfer, landed, state)
  return { kind: 'included', landed, finalInMs: chain.msToFinality(state.receipt.block.height) }
}

function unincluded({ nonce, attempts, tried }: PendingTransaction, state: Exclude<PendingTransactionState, Included>): BroadcastResult {
  if (state.kind === 'spent') return { kind: 'spent', nonce, by: state.by, tried }
  return { kind: 'pending', nonce, attempts, reason: state.note, tried }
}

/** The transaction is final. Its receipt is one look; a transfer, or a round of it, ends by a look at the effect itself. */
async function finalResult(
  { bridges, chain }: AcquireDeps,
  transfer: Transfer,
  landed: Landed,
  { noop, receipt }: Included,
): Promise<BroadcastResult> {
  const endpoint = endpointOf({ bridges }, transfer)
  const hasEffect = !noop && endpoint.hasEffect(receipt, transfer)
  const shows = await isFinal(chain, endpoint, transfer)
  if (shows && hasEffect) return { kind: 'delivered', landed }
  // Another transaction delivered before ours; or the receipt was a lie, and ours did.
  if (shows) return { kind: 'seen' }
  const absent = shows === false && !hasEffect && !(await endpoint.delivered(transfer, 'latest'))
  if (absent) return { kind: 'reverted', landed, reason: `transaction ${landed.txHash} reverted` }
  return { kind: 'included', landed, finalInMs: chain.blockTimeMs }
}

function landedAs({ nonce, attempts, tried }: PendingTransaction, { receipt }: Included): Landed {
  const { height: blockHeight, hash: blockHash } = receipt.block
  return { nonce, txHash: receipt.hash, blockHeight, blockHash, gasPaid: gasPaid(receipt), attempts, tried }
}
