import type { Account, Inclusion } from '../../chains/port.ts'
import type { RelayerError } from '../../domain/catalogue/errors.ts'
import { pricedOut, type Fees } from '../../domain/fees/fees.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { SignedHash } from '../../temporal/contracts/operator-transaction.ts'
import type { AttemptRecord } from '../../temporal/contracts/transfer-steps.ts'
import type { LaneDeps } from '../deps.ts'
import { Wait } from '../../runtime/wait.ts'
import { Attempts } from './attempts.ts'
import { Broadcaster } from './broadcaster.ts'
import { FeeEscalator, type RaiseReason } from './fee-escalator.ts'
import { NonceConflictCheck } from './nonce-conflict-check.ts'
import { proposeRaise, signLater } from './raise.ts'
import { signingRefusal } from './refusals.ts'
import { StuckDetector } from './stuck-detector.ts'
import { problemOf } from '../../observability/severity.ts'

/** What this process knows of the call of a nonce. Without `intent` only no-ops can be signed. */
interface KnownCall {
  readonly intentId?: string
  readonly intent?: Intent
  readonly callHash?: string | undefined
  /** The request that the ledger answered with this nonce. Absent: the nonce is not this try's to give back. */
  readonly grantedTo?: string | undefined
  /** Signed by earlier processes. */
  readonly tried?: readonly SignedHash[] | undefined
  /** Fees of attempts that the ledger does not know and a pool may hold: whatever is signed here must exceed them. */
  readonly outbid?: readonly Fees[] | undefined
}

/** `pending`: in no block. `spent`: in a final block, and what used the nonce is none of our calls. */
export type PendingTransactionState =
  | { readonly kind: 'pending'; readonly note: string }
  | (Inclusion & { readonly kind: 'included'; readonly noop: boolean })
  | { readonly kind: 'spent'; readonly by: 'noop' | 'external' }

/** One nonce on its way into a block: signed, sent, followed, raised while it is stuck, whether or not a transfer waits for it. */
export class PendingTransaction {
  readonly nonce: number
  readonly intentId: string | undefined
  /** See `KnownCall`. */
  readonly grantedTo: string | undefined
  readonly #deps: LaneDeps
  readonly #attempts: Attempts
  readonly #broadcaster: Broadcaster
  readonly #escalator: FeeEscalator
  readonly #stuck: StuckDetector
  readonly #conflict: NonceConflictCheck
  readonly #listeners = new Set<() => void>()
  readonly #outbid: readonly Fees[]
  #balance: string | undefined
  #usedExternally = false
  #refused = false
  #work: Promise<void> | undefined
  #closed = false

  constructor(deps: LaneDeps, nonce: number, attempts: readonly Attempt[], call: KnownCall) {
    const { intentId, intent, outbid = [] } = call
    this.#deps = deps
    this.nonce = nonce
    this.intentId = intentId
    this.grantedTo = call.grantedTo
    this.#outbid = outbid
    this.#stuck = new StuckDetector(deps.bumpAfterBlocks, deps.chain.raises)
    this.#attempts = new Attempts(deps, nonce, attempts, call)
    this.#broadcaster = new Broadcaster(deps, nonce)
    this.#escalator = new FeeEscalator(deps, nonce, intentId, intent)
    this.#conflict = new NonceConflictCheck(deps, nonce, call.callHash)
    this.#attempts.watch.onChange(({ kind }) => {
      // A pool need not have it any more: the same bytes go at the next block, and the wait for a better fee begins anew.
      if (kind === 'unseen') {
        this.#broadcaster.unsettle()
        this.#stuck.restart()
      }
      this.#changed()
    })
  }

  /** How many attempts the ledger has, as far as this process knows. */
  get attempts(): number {
    return this.#attempts.recorded.length
  }

  get state(): PendingTransactionState {
    const { inclusion } = this.#attempts.watch
    if (inclusion.kind === 'included') {
      const noop = this.#attempts.isNoop(inclusion.receipt.hash)
      return noop && inclusion.final ? { kind: 'spent', by: 'noop' } : { ...inclusion, noop }
    }
    return this.#usedExternally ? { kind: 'spent', by: 'external' } : { kind: 'pending', note: this.#broadcaster.note }
  }

  /** Every attempt that was signed here, in order, and what became of it. */
  get tried(): AttemptRecord[] {
    return this.#attempts.tried
  }

  /** It is stuck at the dearest fee that it may have: an operator's limits, or those of raises, keep it there. */
  get atFeeLimit(): boolean {
    return this.#escalator.atLimit && this.unmined
  }

  get unmined(): boolean {
    return this.state.kind === 'pending'
  }

  /** The signer refuses the next attempt that the nonce needs. */
  get signingRefused(): boolean {
    return this.#refused && this.unmined
  }

  /** True while this process works at getting the nonce into a block. */
  get drives(): boolean {
    return this.unmined && !this.unsigned && !this.forgotten
  }

  /** The ledger knows less of this nonce than this process (it was wiped, and started anew): another PendingTransaction must fill it. */
  get forgotten(): boolean {
    return this.#attempts.forgotten
  }

  /** All fees that a pool may hold for this nonce. */
  get offered(): readonly Fees[] {
    return [...this.#outbid, ...this.#attempts.offered]
  }

  /** Nothing of this nonce was signed in this process, nor is being signed. */
  get unsigned(): boolean {
    return this.#attempts.noneSigned && !this.#work
  }

  /** Signs every recorded attempt, so that each hash is watched, and sends the last; once. Throws what the signer throws; the nonce then goes back or is filled. */
  async signAndSend(): Promise<void> {
    if (!this.unsigned) return
    await this.#exclusively(async () => {
      failpoint('after-grant')
      await this.#sign().catch((error: unknown) => this.#onSigningRefused(error))
      failpoint('after-sign')
      await this.#send()
      failpoint('after-send')
    })
  }

  /** Replaces whatever is in the pool by a no-op that outbids it; kept up until the nonce is in a block. */
  async fill(attempts: readonly Attempt[]): Promise<void> {
    // An order often comes with the answer to a raise: wait until that is done, since the next order would meet the next raise.
    await this.#work?.catch(() => {})
    this.#attempts.learn(attempts)
    // A recorded no-op that the signer refuses (a forged one) is no end: a cheaper one may do.
    if (!this.#attempts.isFilling || this.#attempts.lastRefused) return this.bump('noop')
    if (this.#attempts.isLastSigned) return
    await this.#exclusively(async () => {
      await this.#sign()
      await this.#send()
    })
  }

  /** One more attempt now, within the caps of its policy; at the caps the best is sent again. @param atLeast an operator's own offer, whatever the policy says */
  async bump(kind?: Attempt['kind'], atLeast?: Partial<Fees>): Promise<void> {
    await this.#exclusively(() => this.#raise({ why: 'order', kind, atLeast }))
  }

  /** Sends what was sent last once more: now, or at the next block if something else is under way. */
  republish(): void {
    if (!this.unmined || this.#attempts.noneSigned) return
    this.#broadcaster.unsettle()
    this.#background(this.#exclusively(() => this.#send()))
  }

  /** Once per block, with the account as it stands. */
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
    if (isFilling && this.#broadcaster.unfit) return () => this.#raise({ why: 'more-gas' })
    const { baseFee } = this.#deps.chain.heads.current?.latest ?? {}
    const lowest = this.nonce === account.latestNonce
    const due = this.#stuck.look({ height, lowest, pricedOut: pricedOut(allowed, baseFee) })
    if (due) return () => this.#raise({ why: due })
    return this.#broadcaster.due(height) ? () => this.#send() : undefined
  }

  /** Resolves with true as soon as `done` holds, with false after `timeoutMs` or when the signal aborts. */
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

  /** One more attempt; the best again if none may be dearer. */
  async #raise(reason: RaiseReason): Promise<void> {
    if (await signLater(this.#attempts, reason)) {
      this.#stuck.attempted(this.#height)
      return this.#send()
    }
    const facts = { outpriced: this.#broadcaster.outpriced, balance: this.#balance }
    const propose = (known: readonly Attempt[]) => this.#escalator.next(known, [...this.#outbid, ...known], reason, facts)
    const { attempt, refusal } = await proposeRaise(this.#attempts, reason, propose)
    this.#tellRefusal(refusal)
    if (!attempt || refusal) {
      this.#stuck.attempted(this.#height)
      if (signingRefusal(refusal) === 'call' && attempt?.kind === 'call') await this.#askForFill()
      return this.#send()
    }
    if (!(await this.#attempts.record(attempt))) return
    failpoint('after-bump-recorded')
    await this.#sign()
    if (this.#attempts.lastRefused === 'call') await this.#askForFill()
    await this.#send()
  }

  /** Once per nonce: it stays as it is, and the best that was signed is sent again, until the market falls or the config allows more. */
  #tellRefusal(refusal: RelayerError | undefined): void {
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

  async #onSigningRefused(error: unknown): Promise<never> {
    const { intentId, grantedTo } = this
    if (signingRefusal(error) && intentId) {
      const answer = grantedTo && (await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo }))
      if (!answer || answer.kind === 'held') await this.#askForFill()
    }
    throw error
  }

  /** Sends the best. No answer of a node is a verdict: what is refused is sent again at the next block, raised, or judged by the chain. */
  async #send(): Promise<void> {
    const { best } = this.#attempts
    if (!best || this.#closed) return
    const error = await this.#broadcaster.send(best, this.#height)
    // No pool has a transaction that all nodes find too cheap. One that a replacement was to replace is still there: only the lowest need be raised.
    if (error === 'underpriced') this.#stuck.tooCheap('any')
    if (error === 'replacement-underpriced') this.#stuck.tooCheap('lowest')
    if (error && this.#broadcaster.hopeless && !this.#attempts.isFilling) await this.#askForFill()
  }

  async #askForFill(): Promise<void> {
    await this.#deps.ledger.ask({ kind: 'fill', nonce: this.nonce, reason: 'refused' })
  }

  get #height(): number {
    return this.#deps.chain.heads.current?.latest.height ?? 0
  }

  async #checkConflict(account: Account): Promise<void> {
    const user = await this.#conflict.look(account, this.#attempts)
    if (!user || !this.unmined || this.#closed) return
    if (user.kind === 'ours') return this.#attempts.watch.add(user.hash)
    // Whether that is somebody else is said by who knows all attempts (lanes/alerts.ts).
    this.#deps.logger.info('a nonce was used by a transaction that is none of its attempts', { nonce: this.nonce, hash: user.hash })
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
      this.#broadcaster.note = error instanceof Error ? error.message : String(error)
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
