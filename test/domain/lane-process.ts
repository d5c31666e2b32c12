import { intentIdOf, type Attempt, type Owner } from '../../domain/lane/lane.ts'
import type { FillOrder, KnownLedger, LaneAnswer, LaneRequest, RaiseOrder } from '../../domain/lane/messages.ts'
import type { Head } from './lane-chain.ts'

/** A nonce as a process sees it. */
export interface PendingTransaction {
  readonly nonce: number
  /** The epoch of the ledger that granted the nonce. Only the checker uses it, because a process cannot see it. */
  readonly epoch: number
  /** Absent if the process obeys an order to fill. It can then sign only no-ops. */
  readonly intentId?: string
  readonly grantedTo?: string
  attempts: readonly Attempt[]
  /** Highest fees that were signed here. They must be outbid even if the ledger has forgotten them. */
  outbid: readonly Attempt[]
  signed: number
  /**
   * The ledger knows less of the nonce than the process, because it was wiped. The signed transaction is still sent,
   * but the nonce is neither claimed nor raised.
   */
  forgotten: boolean
}

/** The state of a process that has the key. A crash makes the process forget all of it. */
export interface Process {
  head: Head
  since: number
  readonly transactions: Map<number, PendingTransaction>
  orders: readonly (FillOrder & { readonly epoch: number })[]
  raises: readonly RaiseOrder[]
  known: KnownLedger | undefined
  /** The last known run of the ledger. */
  heard: string
  /** Whether the process has reported its observation, with the pool's content. */
  hasReported: boolean
  /** The requests of the process. They are kept, so that a late copy can reach the ledger. */
  asked: { request: LaneRequest; heard: string; waiting: boolean }[]
}

/** Updates the nonces of a process after an answer of the ledger of `epoch`. */
export function takeAnswer(process: Process, epoch: number, request: LaneRequest, answer: LaneAnswer): void {
  const drives = request.kind === 'grant' || (request.kind === 'find' && request.callHash !== undefined)
  if (drives && answer.kind === 'granted') {
    const { nonce, maybeSent, attempts } = answer.entry
    const grantedTo = maybeSent ? undefined : answer.entry.grantedTo
    const known = process.transactions.get(nonce)
    const intentId = request.kind === 'find' ? request.intentId : request.owner.intentId
    if (known?.intentId === intentId && !known.forgotten) return
    process.transactions.set(nonce, {
      nonce,
      epoch,
      intentId,
      ...(grantedTo && { grantedTo }),
      attempts,
      outbid: [],
      signed: 0,
      forgotten: false,
    })
  }
  if (request.kind === 'attempt' && answer.kind === 'refused') {
    const pending = process.transactions.get(request.nonce)
    if (pending) pending.forgotten = true
  }
  if (request.kind === 'attempt' && answer.kind === 'attempts') {
    const pending = process.transactions.get(request.nonce)
    if (pending && answer.attempts.length < pending.attempts.length) pending.forgotten = true
    else if (pending) pending.attempts = answer.attempts
  }
}

/** Some intents move value, so that the funds rule has sums to check. */
export function ownerOf(intent: number, round = 1): Owner {
  const value = intent % 3 === 0 ? { value: '500000' } : {}
  return { intentId: intentIdOf(`transfer-${intent}`, round), callHash: `0x${intent}`, ...value }
}
