import type { LaneId } from '../lane/lane.ts'

/**
 * An attempt that a process signed. `signed`: no node has accepted it yet. `open`: a node accepted it. `outbid`:
 * another attempt for its nonce was mined.
 */
export interface SignedAttempt extends Omit<TransferTransaction, 'lane' | 'nonce' | 'round' | 'hash' | 'fate' | 'gasPaid'> {
  readonly hash: string
  readonly fate: 'signed' | 'open' | 'mined' | 'reverted' | 'outbid'
}

/**
 * `recorded`: in the ledger, but no process has reported it. `signed`: no node has accepted it yet. `pending`: a node
 * accepted it. `reverted`: mined without effect. `replaced`: another attempt for the nonce was mined. `reorged`: the
 * block left the chain, but the transaction may be mined again. `dropped`: the nonce was left to the lane, or used by
 * another transaction.
 */
export type TransactionFate = 'recorded' | 'signed' | 'pending' | 'mined' | 'reverted' | 'replaced' | 'reorged' | 'dropped'

/** Times are ms since the epoch, by the clock of the process that reported the transaction. */
export interface TransferTransaction {
  readonly lane: LaneId
  readonly nonce: number
  readonly round: number
  readonly kind: 'call' | 'noop'
  /** Absent: the ledger recorded the transaction, but no process has reported it yet. */
  readonly hash?: string
  /** Lower-case address. Absent: no process has reported the transaction yet. */
  readonly to?: string
  /** Wei, decimal. */
  readonly value?: string
  /** Gas units, decimal. */
  readonly gasLimit?: string
  /** Wei per gas, decimal. */
  readonly maxFee: string
  readonly tip: string
  readonly fate: TransactionFate
  /** Gas units, decimal, of the whole transaction. Absent: not in a block. */
  readonly gasUsed?: string
  /** Gas paid, wei, decimal; for a batch the transfer's share. Absent: not in a block. */
  readonly gasPaid?: string
  /** When the attempt was recorded, before it was signed. After a takeover: when the new process learned of it. */
  readonly at?: number
  /** When a node accepted it first. */
  readonly acceptedAt?: number | undefined
  /** When it was last seen to enter a block. */
  readonly includedAt?: number
  /** When its block was last seen to leave the chain. */
  readonly reorgedAt?: number
}

export const transactionsKept = 48

interface NonceReport extends Pick<TransferTransaction, 'lane' | 'nonce' | 'round'> {
  readonly at: number
  readonly tried: readonly SignedAttempt[]
  readonly landed?: { readonly txHash: string; readonly gasPaid: string }
}

/** Merges a process's report into the known transactions. The earliest `at` and `acceptedAt` stay. */
export function recordAttempts(
  earlier: readonly TransferTransaction[],
  { lane, nonce, round, at, tried, landed }: NonceReport,
): TransferTransaction[] {
  const byHash = new Map(earlier.map((one) => [one.hash ?? '', one]))
  for (const { fate, ...attempt } of tried) {
    const known: Partial<TransferTransaction> = byHash.get(attempt.hash) ?? {}
    const { gasUsed: _, gasPaid: __, ...before } = known
    const merged = { lane, nonce, round, ...before, ...attempt, fate: fateAfter(before.fate, fate) }
    const times = { at: before.at ?? attempt.at ?? at, acceptedAt: before.acceptedAt ?? attempt.acceptedAt }
    const paid = landed?.txHash === attempt.hash ? { gasPaid: landed.gasPaid } : {}
    byHash.set(attempt.hash, { ...merged, ...times, ...paid })
  }
  return [...byHash.values()].slice(-transactionsKept)
}

function fateAfter(before: TransactionFate | undefined, reported: SignedAttempt['fate']): TransactionFate {
  if (reported === 'outbid') return 'replaced'
  if (reported === 'mined' || reported === 'reverted') return reported
  if (before === 'reorged' || isMined(before)) return 'reorged'
  return reported === 'open' || before === 'pending' ? 'pending' : 'signed'
}

function isMined(fate: TransactionFate | undefined): boolean {
  return fate === 'mined' || fate === 'reverted'
}

/** @param at ms since the epoch */
export function rollBackAttempts(known: readonly TransferTransaction[], round: number, at: number): TransferTransaction[] {
  return known.map((one) => {
    if (one.round !== round || !isMined(one.fate)) return one
    const { gasUsed: _, gasPaid: __, ...rest } = one
    return { ...rest, fate: 'reorged', reorgedAt: at }
  })
}

const unmined: readonly TransactionFate[] = ['signed', 'pending', 'reorged']

export function dropAttempts(known: readonly TransferTransaction[], round: number): TransferTransaction[] {
  return known.map((one) => (one.round === round && unmined.includes(one.fate) ? { ...one, fate: 'dropped' } : one))
}

/** Why a transfer cannot end yet. @param nonces that may still be mined; one without `nonce`: all grants of the lane */
export function waitsForNonces(what: string, nonces: readonly { readonly lane: LaneId; readonly nonce?: number }[]): string {
  const held = nonces.map(({ lane, nonce }) =>
    nonce === undefined ? `the earlier grants of ${lane}, whose ledger began anew` : `nonce ${nonce} of ${lane}`,
  )
  return `${what} once nothing of it can be mined: waits for ${held.join(', ')} to be final`
}
