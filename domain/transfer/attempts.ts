import type { LaneId } from '../lane/lane-id.ts'

/** What one process says of a transaction that it signed: `outbid` by a later one of the nonce, or another; `open`: the nonce is in no block. */
export interface SignedAttempt {
  readonly kind: 'call' | 'noop'
  readonly hash: string
  /** Wei per gas, decimal. */
  readonly maxFee: string
  readonly tip: string
  readonly fate: 'mined' | 'outbid' | 'open'
}

/**
 * What became of a transaction. `pending`: it may be mined. `replaced`: another one of ours used its nonce. `reorged`: it was in a block that is no longer there, and may be mined
 * again. `dropped`: given up; its nonce was left to the lane, or used from outside Portage.
 */
export type TransactionFate = 'pending' | 'mined' | 'replaced' | 'reorged' | 'dropped'

/** A transaction that was signed for a transfer, by whichever process. */
export interface TransferTransaction {
  readonly lane: LaneId
  readonly nonce: number
  /** The round of the transfer that it was signed in. */
  readonly round: number
  readonly kind: 'call' | 'noop'
  /** Absent: the ledger has it recorded, and no process has told of it yet. */
  readonly hash?: string
  /** Wei per gas, decimal. */
  readonly maxFee: string
  readonly tip: string
  readonly fate: TransactionFate
  /** What it cost, wei, decimal; of a batch the share of the transfer. Absent: it is in no block. */
  readonly gasPaid?: string
  /** When the transfer heard of it first, ms since the epoch. */
  readonly at?: number
}

/** Transactions that a transfer keeps, the newest. */
export const transactionsKept = 48

/** What a step heard of the nonce of its round. */
interface Heard extends Pick<TransferTransaction, 'lane' | 'nonce' | 'round'> {
  readonly at: number
  readonly tried: readonly SignedAttempt[]
  /** The one that is in a block, and what it cost. */
  readonly landed?: { readonly txHash: string; readonly gasPaid: string }
}

/** The transactions with what a step has heard; one that another process told of before is the same by its hash. */
export function recordAttempts(
  known: readonly TransferTransaction[],
  { lane, nonce, round, at, tried, landed }: Heard,
): TransferTransaction[] {
  const byHash = new Map(known.map((one) => [one.hash ?? '', one]))
  for (const { kind, hash, maxFee, tip, fate } of tried) {
    const before = byHash.get(hash)
    const paid = landed?.txHash === hash ? { gasPaid: landed.gasPaid } : {}
    const merged = { ...(before ?? { lane, nonce, round, kind, hash, maxFee, tip, at }), fate: fateAfter(before?.fate, fate), ...paid }
    byHash.set(hash, merged)
  }
  return [...byHash.values()].slice(-transactionsKept)
}

function fateAfter(before: TransactionFate | undefined, reported: SignedAttempt['fate']): TransactionFate {
  if (reported === 'mined') return 'mined'
  if (reported === 'outbid') return 'replaced'
  return before === 'mined' || before === 'reorged' ? 'reorged' : 'pending'
}

/** The block of a round's transaction is no longer in the chain. */
export function rollBackAttempts(known: readonly TransferTransaction[], round: number): TransferTransaction[] {
  return known.map((one) => {
    if (one.round !== round || one.fate !== 'mined') return one
    const { gasPaid: _, ...rest } = one
    return { ...rest, fate: 'reorged' }
  })
}

/** Nobody follows the transactions of this round any more. */
export function dropAttempts(known: readonly TransferTransaction[], round: number): TransferTransaction[] {
  return known.map((one) => (one.round === round && (one.fate === 'pending' || one.fate === 'reorged') ? { ...one, fate: 'dropped' } : one))
}
