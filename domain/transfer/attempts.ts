import type { LaneId } from '../lane/lane.ts'

/** `signed`: not accepted by a node. `open`: accepted. `outbid`: another attempt was mined. */
export interface SignedAttempt extends Omit<TransferTransaction, 'lane' | 'nonce' | 'round' | 'hash' | 'fate' | 'gasPaid'> {
  readonly hash: string
  readonly fate: 'signed' | 'open' | 'mined' | 'reverted' | 'outbid'
}

/**
 * `recorded`: in the ledger, but no process has reported it. `signed`: no node has accepted it. `pending`: a node has
 * accepted it. `reverted`: mined without effect. `replaced`: another attempt for the nonce was mined. `reorged`: its
 * block left the chain, and it may be mined again. `dropped`: the lane took over the nonce, or another transaction used
 * it.
 */
export type TransactionFate = 'recorded' | 'signed' | 'pending' | 'mined' | 'reverted' | 'replaced' | 'reorged' | 'dropped'

/** Times: ms since the epoch by the reporting process's clock. Wei and gas: decimal. */
export interface TransferTransaction {
  readonly lane: LaneId
  readonly nonce: number
  readonly round: number
  readonly kind: 'call' | 'noop'
  /** `hash` and `to` are absent while the fate is `recorded`. */
  readonly hash?: string
  readonly to?: string
  readonly value?: string
  readonly gasLimit?: string
  readonly maxFee: string
  readonly tip: string
  readonly fate: TransactionFate
  /** Gas of the whole transaction. Absent while the transaction is in no block. */
  readonly gasUsed?: string
  /** Wei. For a batch, the share of this transfer. Absent while the transaction is in no block. */
  readonly gasPaid?: string
  /** When the attempt was recorded, before its signature. After a takeover: when the new process read the attempt. */
  readonly at?: number
  readonly acceptedAt?: number | undefined
  readonly includedAt?: number
  readonly reorgedAt?: number
}

export const transactionsKept = 48

interface NonceReport extends Pick<TransferTransaction, 'lane' | 'nonce' | 'round'> {
  readonly at: number
  readonly tried: readonly SignedAttempt[]
  readonly landed?: { readonly txHash: string; readonly gasPaid: string }
}

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

/** Cost of a transaction in a block, wei: its gas and, if its call succeeded, its coins. */
export function costOf({ txHash, gasPaid, tried = [] }: NonNullable<NonceReport['landed']> & Partial<Pick<NonceReport, 'tried'>>): bigint {
  const mined = tried.find(({ hash, fate }) => hash === txHash && fate === 'mined')
  return BigInt(gasPaid) + BigInt(mined?.value ?? 0)
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

/** @param nonces an item without `nonce` means all earlier grants of its lane */
export function waitsForNonces(what: string, nonces: readonly { readonly lane: LaneId; readonly nonce?: number }[]): string {
  const held = nonces.map(({ lane, nonce }) =>
    nonce === undefined ? `any nonces of ${lane} that its ledger may have lost` : `nonce ${nonce} of ${lane}`,
  )
  return `${what} once none of its transactions can be mined: waits for ${held.join(', ')} to be final`
}
