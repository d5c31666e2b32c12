import { intentIdOf, type Attempt, type Owner } from '../../domain/lane/lane.ts'
import type { FillOrder, KnownLedger, LaneAnswer, LaneRequest, RaiseOrder } from '../../domain/lane/messages.ts'
import type { Head } from './lane-chain.ts'

export interface PendingTransaction {
  readonly nonce: number
  /** Number of the ledger that granted the nonce (see `CheckedLane.epoch`). Only the checker reads this field. */
  readonly epoch: number
  /** Absent if the process obeys an order to fill. */
  readonly intentId?: string
  readonly grantedTo?: string
  attempts: readonly Attempt[]
  /** Attempts that each new attempt must outbid, even if the ledger has forgotten them. */
  outbid: readonly Attempt[]
  signed: number
  /** Whether the ledger was wiped and knows fewer attempts. If so, the process neither claims nor raises the nonce. */
  forgotten: boolean
}

/** The state of a process. A crash empties all of it. */
export interface Process {
  head: Head
  since: number
  readonly transactions: Map<number, PendingTransaction>
  orders: readonly (FillOrder & { readonly epoch: number })[]
  raises: readonly RaiseOrder[]
  known: KnownLedger | undefined
  heard: string
  /** Whether the process has reported the content of the pool. */
  hasReported: boolean
  /** Requests that the process has sent. A late copy of each can still reach the ledger. */
  asked: { request: LaneRequest; heard: string; waiting: boolean }[]
}

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

/** The owner of an intent. Some intents move value, so that the rule about funds has sums to check. */
export function ownerOf(intent: number, round = 1): Owner {
  const value = intent % 3 === 0 ? { value: '500000' } : {}
  return { intentId: intentIdOf(`transfer-${intent}`, round), callHash: `0x${intent}`, ...value }
}
