import type { Account, Inclusion, Receipt } from '../../chains/port.ts'
import type { RelayerError } from '../../domain/catalogue/errors.ts'
import { pricedOut, type Fees } from '../../domain/fees/fees.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import { printable } from '../../domain/text/printable.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { KnownCall, LaneDeps } from '../deps.ts'
import { Wait } from '../../runtime/wait.ts'
import { Attempts, signingRefusal } from './attempts.ts'
import { createTransactionSender, type TransactionSender } from './sender.ts'
import { createFeeEscalator, createStuckDetector, type RaiseReason, type StuckDetector } from './fee-escalator.ts'
import { createNonceConflictCheck } from './nonce-conflict-check.ts'
import { problemOf } from '../../observability/severity.ts'

/** `pending`: the nonce is in no block. `spent`: a no-op or an external transaction used it in a final block. */
export type PendingTransactionState =
  | { readonly kind: 'pending'; readonly note: string }
  | (Inclusion & { readonly kind: 'included'; readonly noop: boolean })
  | { readonly kind: 'spent'; readonly by: 'noop' | 'external' }

/** Brings one nonce into a block, even if no transfer waits for it. */
export class PendingTransaction {
  readonly nonce: number
  readonly intentId: string | undefined
  readonly grantedTo: string | undefined
  readonly #deps: LaneDeps
  readonly #attempts: Attempts
  readonly #sender: TransactionSender
  readonly #escalator: ReturnType<typeof createFeeEscalator>
  readonly #stuck: StuckDetector
  readonly #conflict: ReturnType<typeof createNonceConflictCheck>
  readonly #listeners = new Set<() => void>()
  readonly #outbid: readonly Fees[]
  #balance: string | undefined
  #usedExternally = false
  #refused = false
  #refusal: string | undefined
  #refusalOfFew: string | undefined
  #work: Promise<void> | undefined
  #closed = false

  constructor(deps: LaneDeps, nonce: number, attempts: readonly Attempt[], call: KnownCall) {
    const { intentId, outbid = [] } = call
    this.#deps = deps
    this.nonce = nonce
    this.intentId = intentId
    this.grantedTo = call.grantedTo
    this.#refusal = call.refusal
    this.#outbid = outbid
    this.#stuck = createStuckDetector(deps.bumpAfterBlocks, deps.chain.raises, call.waited)
    this.#attempts = new Attempts(deps, nonce, attempts, call)
    this.#sender = createTransactionSender(deps, nonce)
    this.#escalator = createFeeEscalator(deps, nonce, call)
    this.#conflict = createNonceConflictCheck(deps, nonce)
    this.#attempts.watch.onChange((inclusion) => {
      this.#attempts.noteInclusion(inclusion)
      // Pools may have dropped the transaction, so the next block sends it again, and the wait for a raise restarts.
      if (inclusion.kind === 'unseen') {
        this.#sender.unsettle()
        this.#stuck.restart()
      }
      this.#changed()
    })
  }

  get attempts(): number {
    return this.#attempts.recorded.length
  }

  get state(): PendingTransactionState {
    const { inclusion } = this.#attempts.watch
    if (inclusion.kind === 'included') {
      const noop = this.#attempts.isNoop(inclusion.receipt.hash)
      return noop && inclusion.final ? { kind: 'spent', by: 'noop' } : { ...inclusion, noop }
    }
    return this.#usedExternally ? { kind: 'spent', by: 'external' } : { kind: 'pending', note: this.#sender.note }
  }

  /** Set if most nodes refused the call, and a no-op in a block has replaced it. `reason` has the nodes' text. */
  get refusedCall(): { readonly reason: string; readonly receipt: Receipt } | undefined {
    const { inclusion } = this.#attempts.watch
    if (this.#refusal === undefined || inclusion.kind !== 'included' || !this.#attempts.isNoop(inclusion.receipt.hash)) return undefined
    return { reason: `every node refused the call: ${this.#refusal}`, receipt: inclusion.receipt }
  }

  /** Like `refusedCall`, if most nodes did not answer: a single node may have lied, so this is no loss. */
  get refusedByFew(): string | undefined {
    const { state } = this
    const isNoop = state.kind === 'spent' && state.by === 'noop'
    return isNoop && this.#refusal === undefined ? this.#refusalOfFew : undefined
  }

  get tried(): SignedAttempt[] {
    return this.#attempts.tried
  }

  get atFeeLimit(): boolean {
    return this.#escalator.atLimit() && this.unmined
  }

  get unmined(): boolean {
    return this.state.kind === 'pending'
  }

  get signingRefused(): boolean {
    return this.#refused && this.unmined
  }

  get drives(): boolean {
    return this.unmined && !this.unsigned && !this.forgotten
  }

  /**
   * True if the ledger was wiped and lost attempts for this nonce. Another PendingTransaction must then fill the nonce.
   */
  get forgotten(): boolean {
    return this.#attempts.forgotten
  }

  get offered(): readonly Fees[] {
    return [...this.#outbid, ...this.#attempts.offered]
  }

  get unsigned(): boolean {
    return this.#attempts.noneSigned && !this.#work
  }

  /** Signs all recorded attempts, so that each hash is watched, and sends the best one. Throws the signer's errors. */
  async signAndSend(): Promise<void> {
    if (!this.unsigned || !this.unmined) return
    await this.#exclusively(async () => {
      failpoint('after-grant')
      await this.#sign()
      failpoint('after-sign')
      await this.#send()
      failpoint('after-send')
    })
  }

  async fill(attempts: readonly Attempt[], refusal?: string): Promise<void> {
    this.#refusal ??= refusal
    // The order to fill often comes with the answer to a raise, and would be ignored during the raise.
    await this.#work?.catch(() => {})
    this.#attempts.learn(attempts)
    // If the recorded no-op was refused, it may be forged, and the signer may sign a cheaper no-op.
    if (!this.#attempts.isFilling || this.#attempts.lastRefused) return this.bump('noop')
    if (this.#attempts.isLastSigned) return
    await this.#exclusively(async () => {
      await this.#sign()
      await this.#send()
    })
  }

  /** Raises the fees or, if the caps forbid that, sends the best attempt again. `atLeast` may exceed the caps. */
  async bump(kind?: Attempt['kind'], atLeast?: Partial<Fees>): Promise<void> {
    await this.#exclusively(() => this.#raise({ why: 'order', kind, atLeast }))
  }

  republish(): void {
    if (!this.unmined || this.#attempts.noneSigned) return
    this.#sender.unsettle()
    this.#background(this.#exclusively(() => this.#send()))
  }

  onBlock(height: number, account: Account): void {
    if (!this.unmined) return
    if (this.nonce < account.latestNonce) return this.#background(this.#checkConflict(account))
    this.#conflict.reset()
    this.#balance = account.balance
    if (this.#work || this.#attempts.noneSigned) return
    const work = this.#dueWork(height, account)
    if (work) this.#background(this.#exclusively(work))
  }

  #dueWork(height: number, account: Account): (() => Promise<void>) | undefined {
    const { isFilling, allowed } = this.#attempts
    if (isFilling && this.#sender.isUnfit()) return () => this.#raise({ why: 'more-gas' })
    const { baseFee } = this.#deps.chain.heads.current?.latest ?? {}
    const lowest = this.nonce === account.latestNonce
    const due = this.#stuck.check({ height, lowest, pricedOut: pricedOut(allowed, baseFee) })
    if (due) return () => this.#raise({ why: due })
    return this.#sender.due(height) ? () => this.#send() : undefined
  }

  until(done: (state: PendingTransactionState) => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (done(this.state)) return Promise.resolve(true)
    const wait = new Wait<boolean>({ timeoutMs, signal }, () => wait.resolve(false))
    const check = () => {
      if (done(this.state)) wait.resolve(true)
    }
    this.#listeners.add(check)
    return wait.promise.finally(() => this.#listeners.delete(check))
  }

  close(): void {
    this.#closed = true
    this.#attempts.watch.close()
  }

  async #raise(reason: RaiseReason): Promise<void> {
    if (await this.#attempts.signLater(reason)) {
      this.#stuck.attempted(this.#height)
      return this.#send()
    }
    const facts = { outpriced: this.#sender.outpriced, balance: this.#balance }
    const propose = (known: readonly Attempt[]) => this.#escalator.next(known, [...this.#outbid, ...known], reason, facts)
    const { attempt, refusal } = await this.#attempts.propose(reason, propose)
    this.#reportRefusal(refusal)
    if (!attempt || refusal) {
      this.#stuck.attempted(this.#height)
      const isRefused = signingRefusal(refusal) === 'call' && attempt?.kind === 'call'
      // A no-op replaces a call that the key refuses for ever or that the terms hold back, because higher nonces wait
      // for this nonce.
      if (isRefused || (reason.why === 'stuck' && this.#escalator.atTerms())) await this.#askForFill()
      return this.#send()
    }
    if (!(await this.#attempts.record(attempt))) return
    failpoint('after-bump-recorded')
    await this.#sign()
    if (this.#attempts.lastRefused === 'call') await this.#askForFill()
    await this.#send()
  }

  #reportRefusal(refusal: RelayerError | undefined): void {
    if (refusal && !this.#refused) {
      const about = { nonce: this.nonce, ...problemOf(refusal) }
      this.#deps.logger.error('the signer refuses the next attempt of a nonce; the best one is sent again', about)
    }
    this.#refused = refusal !== undefined
  }

  async #sign(): Promise<void> {
    await this.#attempts.sign()
    this.#stuck.attempted(this.#height)
  }

  async #send(): Promise<void> {
    const { best } = this.#attempts
    if (!best || this.#closed) return
    const error = await this.#sender.send(best, this.#height)
    if (error === undefined) this.#attempts.accepted(best.hash)
    // `underpriced`: no pool has the transaction. `replacement-underpriced`: pools have another transaction for the
    // nonce.
    if (error === 'underpriced') this.#stuck.tooCheap('any')
    if (error === 'replacement-underpriced') this.#stuck.tooCheap('lowest')
    if (error && this.#sender.isHopeless() && !this.#attempts.isFilling) {
      const said = printable(this.#sender.note)
      if (this.#sender.isAgreed()) this.#refusal = said
      else this.#refusalOfFew = said
      await this.#askForFill(this.#refusal)
    }
  }

  async #askForFill(refusal?: string): Promise<void> {
    await this.#deps.ledger.ask({ kind: 'fill', nonce: this.nonce, reason: 'refused', ...(refusal && { refusal }) })
  }

  get #height(): number {
    return this.#deps.chain.heads.current?.latest.height ?? 0
  }

  async #checkConflict(account: Account): Promise<void> {
    const user = await this.#conflict.check(account, this.#attempts)
    if (!user || !this.unmined || this.#closed) return
    if (user.kind === 'ours') return this.#attempts.watch.add(user.hash)
    this.#deps.logger.info('a nonce was used by a transaction other than its attempts', { nonce: this.nonce, hash: user.hash })
    this.#usedExternally = true
    this.#changed()
  }

  async #exclusively(work: () => Promise<void>): Promise<void> {
    if (this.#work || this.#closed) return
    this.#work = work()
    try {
      await this.#work
    } finally {
      this.#work = undefined
    }
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#sender.note = error instanceof Error ? error.message : String(error)
      this.#deps.logger.warn('a step of a pending transaction failed; retrying at the next block', {
        nonce: this.nonce,
        ...problemOf(error),
      })
    })
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
