import type { Account, Inclusion, SendErrorClass, Watch } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import { pricedOut, type Fees } from '../../domain/fees/fees.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { AttemptRecord } from '../../temporal/contracts/transfer-steps.ts'
import { callHash } from '../call-hash.ts'
import { FeeEscalator, type Bid, type FeeEscalatorDeps } from './fee-escalator.ts'
import type { LedgerClient } from '../ledger-client.ts'
import { Patience } from './stuck-detector.ts'
import { Broadcaster } from './broadcaster.ts'
import { SignedAttempts } from './signed-attempts.ts'
import { NonceConflictCheck } from './nonce-conflict-check.ts'

export interface PendingTransactionDeps extends FeeEscalatorDeps {
  readonly ledger: LedgerClient
  readonly bumpAfterBlocks: number
}

/** Whose call a flight carries; without it, it can only sign no-ops. */
export interface Owned {
  readonly intentId: string
  readonly intent: Intent
  /** Absent: the nonce is not this try's to give back. */
  readonly grantedTo?: string
}

/**
 * What is known of a nonce whose call is not at hand. `outbid`: fees of attempts that the ledger does not know and a pool may hold, which
 * whatever is signed here must exceed.
 */
interface Known {
  readonly outbid?: readonly Fees[] | undefined
  readonly callHash?: string | undefined
}

/** Where a nonce stands. `spent`: its block is final and what used it is none of our calls. */
export type PendingTransactionState =
  | { readonly kind: 'flying'; readonly note: string }
  | (Inclusion & { readonly kind: 'included'; readonly noop: boolean })
  | { readonly kind: 'spent'; readonly by: 'noop' | 'external' }

/**
 * One nonce on its way into a block: signs what the ledger recorded, sends it, follows it, raises its fee while it is the lowest that is
 * stuck. Goes on whether or not somebody waits for it.
 */
export class PendingTransaction {
  readonly nonce: number
  readonly intentId: string | undefined
  /** The request that the ledger answered with this nonce: only it may give the nonce back. */
  readonly grantedTo: string | undefined
  readonly #deps: PendingTransactionDeps
  readonly #watch: Watch
  readonly #signatures: SignedAttempts
  readonly #bidding: FeeEscalator
  readonly #sending: Broadcaster
  readonly #patience: Patience
  readonly #user: NonceConflictCheck
  readonly #listeners = new Set<() => void>()
  readonly #outbid: readonly Fees[]
  #attempts: readonly Attempt[]
  #balance: string | undefined
  #estranged = false
  #external = false
  #work: Promise<void> | undefined
  #closed = false

  constructor(deps: PendingTransactionDeps, nonce: number, attempts: readonly Attempt[], owned?: Owned, known: Known = {}) {
    this.#deps = deps
    this.nonce = nonce
    this.intentId = owned?.intentId
    this.grantedTo = owned?.grantedTo
    this.#attempts = attempts
    this.#outbid = known.outbid ?? []
    this.#signatures = new SignedAttempts(deps, nonce, owned?.intent)
    this.#bidding = new FeeEscalator(deps, nonce, owned?.intentId, owned?.intent)
    this.#sending = new Broadcaster(deps, nonce)
    this.#patience = new Patience(deps.bumpAfterBlocks, deps.chain.raises)
    this.#user = new NonceConflictCheck(deps, nonce, owned ? callHash(owned.intent) : known.callHash)
    this.#watch = deps.chain.watch([])
    this.#watch.onChange(({ kind }) => {
      if (kind === 'unseen') this.#fellOut()
      this.#changed()
    })
  }

  get attempts(): number {
    return this.#attempts.length
  }

  get state(): PendingTransactionState {
    const { inclusion } = this.#watch
    if (inclusion.kind === 'included') {
      const noop = this.#isNoop(inclusion.receipt.hash)
      return noop && inclusion.final ? { kind: 'spent', by: 'noop' } : { ...inclusion, noop }
    }
    return this.#external ? { kind: 'spent', by: 'external' } : { kind: 'flying', note: this.#sending.note }
  }

  /** Every attempt that was signed here, in order, and what became of it. */
  get tried(): AttemptRecord[] {
    const { inclusion } = this.#watch
    return this.#signatures.records(this.#attempts, inclusion.kind === 'included' ? inclusion.receipt.hash : undefined)
  }

  /** It is stuck at the dearest that it may be: an operator's limits, or those of raises, keep it there. */
  get atFeeLimit(): boolean {
    return this.#bidding.atLimit && this.unmined
  }

  /** True while no block holds the nonce. */
  get unmined(): boolean {
    return this.state.kind === 'flying'
  }

  /** True while this process works at getting the nonce into a block. */
  get drives(): boolean {
    return this.unmined && !this.unsigned && !this.#estranged
  }

  /** The ledger knows less of this nonce than we do (it was wiped, and started anew): we can't add to it, so another flight must end it. */
  get estranged(): boolean {
    return this.#estranged
  }

  /** All that was ever offered for this nonce. */
  get offered(): readonly Fees[] {
    return [...this.#outbid, ...this.#attempts]
  }

  /** Nothing of this nonce was signed in this process, nor is being signed. */
  get unsigned(): boolean {
    return this.#signatures.none && !this.#work
  }

  /** Signs every recorded attempt, so that each hash is watched, and sends the last; once. Throws what the signer throws. */
  async launch(): Promise<void> {
    if (!this.unsigned) return
    await this.#exclusively(async () => {
      failpoint('after-grant')
      await this.#sign().catch((error: unknown) => this.#refused(error))
      failpoint('after-sign')
      await this.#send()
      failpoint('after-send')
    })
  }

  /** Replaces whatever is in the pool by a no-op that outbids it; kept up until the nonce is in a block. */
  async fill(attempts: readonly Attempt[]): Promise<void> {
    // An order comes with the answer to a raise as often as not: it waits for its end, since the next one would meet the next raise.
    await this.#work?.catch(() => {})
    if (attempts.length > this.#attempts.length) this.#attempts = attempts
    if (this.#attempts.at(-1)?.kind !== 'noop') return this.bump('noop')
    if (this.#signatures.has(this.#attempts.length - 1)) return
    await this.#exclusively(async () => {
      await this.#sign()
      await this.#send()
    })
  }

  /**
   * One more attempt now, whatever was offered before, within the caps of its policy; at the caps the best is sent again.
   * @param least an operator's own offer, wei: at least this, whatever the policy says
   */
  async bump(kind?: Attempt['kind'], least?: Partial<Fees>): Promise<void> {
    await this.#exclusively(() => this.#raise({ kind, atLeast: least, urgent: true }))
  }

  /** One more attempt, recorded, then signed, then sent; the best again if none may be dearer. */
  async #raise(bid: Bid): Promise<void> {
    const meant = { ...bid, outpriced: this.#sending.outpriced, balance: this.#balance }
    const attempt = await this.#bidding.next(this.#attempts, this.offered, meant)
    if (!attempt) {
      this.#patience.attempted(this.#height)
      return this.#send()
    }
    const index = this.#attempts.length
    const answer = await this.#deps.ledger.ask({ kind: 'attempt', nonce: this.nonce, index, attempt })
    const known = answer.kind === 'attempts' ? answer.attempts : []
    this.#estranged = known.length < index || answer.kind === 'refused'
    if (known.length <= index) return
    this.#attempts = known
    failpoint('after-bump-recorded')
    await this.#sign()
    if (this.#signatures.refuses(known.length - 1)) await this.#askForFill()
    await this.#send()
  }

  /** Once per block, with the account as it stands. */
  onBlock(height: number, account: Account): void {
    if (!this.unmined) return
    if (this.nonce < account.latestNonce) return this.#background(this.#findUser(account))
    this.#user.reset()
    this.#balance = account.balance
    if (this.#work || this.#signatures.none) return
    const unfit = this.#attempts.at(-1)?.kind === 'noop' && this.#sending.unfit
    if (unfit) return this.#background(this.#exclusively(() => this.#raise({ urgent: true, moreGas: true })))
    const { baseFee } = this.#deps.chain.heads.current?.latest ?? {}
    const lowest = this.nonce === account.latestNonce
    const due = this.#patience.look({ height, lowest, pricedOut: pricedOut(this.#attempts, baseFee) })
    if (due) return this.#background(this.#exclusively(() => this.#raise({ ifAsked: due === 'reprice' })))
    if (this.#sending.due(height)) this.#background(this.#exclusively(() => this.#send()))
  }

  async #findUser(account: Account): Promise<void> {
    const user = await this.#user.look(account, this.#signatures)
    if (!user || !this.unmined || this.#closed) return
    if (user.kind === 'ours') return this.#watch.add(user.hash)
    this.#deps.logger.warn('a nonce was used by a transaction that is none of its attempts', { nonce: this.nonce, hash: user.hash })
    this.#external = true
    this.#changed()
  }

  /** Resolves with true as soon as `done` holds, with false after `timeoutMs` or when the signal aborts. */
  until(done: (state: PendingTransactionState) => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (done(this.state)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const finish = (result: boolean) => {
        clearTimeout(timer)
        this.#listeners.delete(check)
        signal?.removeEventListener('abort', aborted)
        resolve(result)
      }
      const check = () => {
        if (done(this.state)) finish(true)
      }
      const aborted = () => finish(false)
      const timer = setTimeout(() => finish(false), timeoutMs)
      this.#listeners.add(check)
      signal?.addEventListener('abort', aborted)
      if (signal?.aborted) aborted()
    })
  }

  close(): void {
    this.#closed = true
    this.#watch.close()
  }

  async #sign(): Promise<void> {
    for (const hash of await this.#signatures.signAll(this.#attempts)) this.#watch.add(hash)
    this.#patience.attempted(this.#height)
  }

  /** Nothing of it may be signed: the nonce goes back, or, if an earlier try may have sent it, is filled. Throws what it is given. */
  async #refused(error: unknown): Promise<never> {
    const { intentId, grantedTo } = this
    if (error instanceof RelayerError && error.code === 'SIGNING_REFUSED' && intentId) {
      const answer = grantedTo && (await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo }))
      if (!answer || answer.kind === 'held') await this.#askForFill()
    }
    throw error
  }

  async #send(): Promise<void> {
    const { best } = this.#signatures
    if (!best || this.#closed) return
    const error = await this.#sending.send(best, this.#height)
    if (error) await this.#react(error)
  }

  /** After a send nothing is a verdict: what is refused is sent again at the next block, raised, or judged by the chain. */
  async #react(error: SendErrorClass): Promise<void> {
    // No pool has what all find too cheap. What a replacement was to replace still stands: that is the lowest's business.
    if (error === 'underpriced') this.#patience.hurry('any')
    if (error === 'replacement-underpriced') this.#patience.hurry('lowest')
    if (this.#sending.hopeless && this.#attempts.at(-1)?.kind === 'call') await this.#askForFill()
  }

  async #askForFill(): Promise<void> {
    await this.#deps.ledger.ask({ kind: 'fill', nonce: this.nonce, reason: 'refused' })
  }

  #isNoop(hash: string): boolean {
    return this.#attempts[this.#signatures.placeOf(hash) ?? -1]?.kind === 'noop'
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

  /** A pool need not have it any more: the same bytes go at the next block, and the wait for a better fee begins anew. */
  #fellOut(): void {
    this.#sending.unsettle()
    this.#patience.restart()
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      this.#sending.note = reason
      this.#deps.logger.warn('a flight met an error; it goes on at the next block', { nonce: this.nonce, reason })
    })
  }

  get #height(): number {
    return this.#deps.chain.heads.current?.latest.height ?? 0
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
