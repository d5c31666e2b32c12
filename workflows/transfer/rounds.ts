import type { LaneId } from '../../domain/lane/lane.ts'
import { dropAttempts, recordAttempts, rollBackAttempts } from '../../domain/transfer/attempts.ts'
import type { AttemptRecord, Landed } from '../../temporal/contracts/transfer-steps.ts'
import type { TransferProgress } from '../../temporal/contracts/transfer.ts'

// A round is one intent: one call through one lane, with at most one nonce.

export function recordTransactions(
  progress: TransferProgress,
  { lane, nonce, tried = [], landed }: { lane: LaneId; nonce: number; tried?: readonly AttemptRecord[]; landed?: Landed },
): void {
  const { transactions = [], round } = progress
  if (tried.length === 0) return
  progress.transactions = recordAttempts(transactions, { lane, nonce, round, at: Date.now(), tried, ...(landed && { landed }) })
}

export function rollBackRound(progress: TransferProgress): void {
  const { transactions, round } = progress
  if (transactions) progress.transactions = rollBackAttempts(transactions, round)
}

/** Keeps the lane, with the highest nonce that the transfer held there. */
export function stopFollowing(progress: TransferProgress): void {
  const { underway, left = [], transactions, round } = progress
  progress.underway = undefined
  if (!underway) return
  if (transactions) progress.transactions = dropAttempts(transactions, round)
  const { lane } = underway.ready
  const nonces = [underway.nonce, left.find((one) => one.lane === lane)?.nonce].filter((nonce) => nonce !== undefined)
  const highest = nonces.length > 0 ? { nonce: Math.max(...nonces) } : {}
  progress.left = [...left.filter((one) => one.lane !== lane), { lane, ...highest }]
}

/** The nonce is used up or left to its lane. The next try is a new intent. */
export function nextRound(progress: TransferProgress): void {
  stopFollowing(progress)
  progress.round += 1
}
