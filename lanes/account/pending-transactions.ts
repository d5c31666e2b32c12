import type { Account } from '../../chains/port.ts'
import { blocksWaited } from '../../domain/lane/view.ts'
import type { Entry } from '../../domain/lane/lane.ts'
import type { FillOrder, RaiseOrder } from '../../domain/lane/messages.ts'
import type { Alerts } from '../alerts.ts'
import type { LaneCall, LaneDeps } from '../deps.ts'
import { PendingTransaction } from '../transaction/pending-transaction.ts'
import { problemOf } from '../../observability/severity.ts'
import { LRUCache } from 'lru-cache'

/** Limit of `#refused`, in which each entry may hold a call of almost 100 kB. */
const refusedKept = 100

/** The nonces that this process drives, each until its use is final. */
export class PendingTransactions {
  readonly #deps: LaneDeps
  readonly #alerts: Alerts
  readonly #byNonce = new Map<number, PendingTransaction>()
  /** By intent: nonces with final no-ops, kept because the intent's step may still ask why its call was refused. */
  readonly #refused = new LRUCache<string, PendingTransaction>({ max: refusedKept })

  constructor(deps: LaneDeps, alerts: Alerts) {
    this.#deps = deps
    this.#alerts = alerts
  }

  get size(): number {
    return this.#byNonce.size
  }

  get claims(): number[] {
    return this.#all.filter((pending) => pending.drives).map(({ nonce }) => nonce)
  }

  count(is: (pending: PendingTransaction) => boolean): number {
    return this.#all.filter(is).length
  }

  of(intentId: string): PendingTransaction | undefined {
    return this.#all.find((pending) => pending.intentId === intentId && !pending.forgotten) ?? this.#refused.get(intentId)
  }

  adopt(entry: Entry, { owner: { intentId, callHash }, intent, tried, terms }: LaneCall): PendingTransaction {
    const { nonce, attempts, refusal } = entry
    const { view } = this.#deps.ledger
    const known = this.#byNonce.get(nonce)
    if (known && known.intentId === intentId && !known.forgotten) return known
    known?.close()
    // Only the first try with this nonce may give it back, because an earlier try may have sent a transaction.
    const grantedTo = entry.maybeSent ? undefined : entry.grantedTo
    const waited = view ? blocksWaited(entry, view) : 0
    const call = { intentId, intent, callHash, tried, terms, grantedTo, waited, refusal }
    const pending = new PendingTransaction(this.#deps, nonce, attempts, call)
    this.#byNonce.set(nonce, pending)
    return pending
  }

  drop(pending: PendingTransaction): void {
    this.#byNonce.delete(pending.nonce)
    pending.close()
  }

  clear(): void {
    for (const pending of this.#all) this.drop(pending)
    this.#refused.clear()
  }

  fill({ nonce, attempts, callHash, refusal }: FillOrder): void {
    let pending = this.#byNonce.get(nonce)
    if (!pending || pending.forgotten) {
      pending?.close()
      pending = new PendingTransaction(this.#deps, nonce, attempts, { outbid: pending?.offered, callHash })
      this.#byNonce.set(nonce, pending)
    }
    this.#inBackground(pending.fill(attempts, refusal), nonce, 'a no-op could not be sent; ordered again at the next block')
  }

  raise({ nonce, after, maxFee, tip }: RaiseOrder): void {
    const pending = this.#byNonce.get(nonce)
    if (!pending?.drives || pending.attempts > after) return
    this.#inBackground(pending.bump(undefined, { maxFee, tip }), nonce, 'a raise could not be made; ordered again')
  }

  republish(nonce: number | undefined): void {
    for (const pending of this.#all) if (nonce === undefined || pending.nonce === nonce) pending.republish()
  }

  onAccount(account: Account): void {
    for (const pending of this.#all) pending.onBlock(account.block.height, account)
  }

  sweep(): void {
    for (const pending of this.#all) {
      const { state } = pending
      if (state.kind !== 'spent' && !(state.kind === 'included' && state.final)) continue
      this.drop(pending)
      if (pending.refusedCall && pending.intentId !== undefined) this.#refused.set(pending.intentId, pending)
      // A process without the intent only fills the nonce, and cannot recognise Portage's call, so it raises no alert.
      if (state.kind === 'spent' && state.by === 'external' && pending.intentId !== undefined) this.#alerts.usedExternally(pending.nonce)
    }
  }

  get #all(): PendingTransaction[] {
    return [...this.#byNonce.values()]
  }

  #inBackground(work: Promise<void>, nonce: number, failure: string): void {
    work.catch((error: unknown) => {
      this.#deps.logger.warn(failure, { nonce, ...problemOf(error) })
    })
  }
}
