import type { LaneId } from '../lane/lane.ts'

/** A transaction that a process signed. `outbid`: another with its nonce was mined. `open`: it is in no block. */
export interface SignedAttempt extends Pick<TransferTransaction, 'kind' | 'maxFee' | 'tip'> {
  readonly hash: string
  readonly fate: 'mined' | 'outbid' | 'open'
}

/**
 * `replaced`: another attempt for the nonce was mined. `reorged`: the block left the chain, but the transaction may be
 * mined again. `dropped`: the nonce was left to the lane, or used by another transaction.
 */
export type TransactionFate = 'pending' | 'mined' | 'replaced' | 'reorged' | 'dropped'

export interface TransferTransaction {
  readonly lane: LaneId
  readonly nonce: number
  readonly round: number
  readonly kind: 'call' | 'noop'
  /** Absent: the ledger recorded the transaction, but no process has reported it yet. */
  readonly hash?: string
  /** Wei per gas, decimal. */
  readonly maxFee: string
  readonly tip: string
  readonly fate: TransactionFate
  /** Gas paid, wei, decimal; for a batch the transfer's share. Absent: not in a block. */
  readonly gasPaid?: string
  /** When the transfer learned of the transaction, ms since the epoch. */
  readonly at?: number
}

export const transactionsKept = 48

interface NonceReport extends Pick<TransferTransaction, 'lane' | 'nonce' | 'round'> {
  readonly at: number
  readonly tried: readonly SignedAttempt[]
  readonly landed?: { readonly txHash: string; readonly gasPaid: string }
}

export function recordAttempts(
  known: readonly TransferTransaction[],
  { lane, nonce, round, at, tried, landed }: NonceReport,
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

export function rollBackAttempts(known: readonly TransferTransaction[], round: number): TransferTransaction[] {
  return known.map((one) => {
    if (one.round !== round || one.fate !== 'mined') return one
    const { gasPaid: _, ...rest } = one
    return { ...rest, fate: 'reorged' }
  })
}

export function dropAttempts(known: readonly TransferTransaction[], round: number): TransferTransaction[] {
  return known.map((one) => (one.round === round && (one.fate === 'pending' || one.fate === 'reorged') ? { ...one, fate: 'dropped' } : one))
}

/** Why a transfer cannot end yet. @param nonces that may still be mined; one without `nonce`: all grants of the lane */
export function waitsForNonces(what: string, nonces: readonly { readonly lane: LaneId; readonly nonce?: number }[]): string {
  const held = nonces.map(({ lane, nonce }) =>
    nonce === undefined ? `the earlier grants of ${lane}, whose ledger began anew` : `nonce ${nonce} of ${lane}`,
  )
  return `${what} once nothing of it can be mined: waits for ${held.join(', ')} to be final`
}
