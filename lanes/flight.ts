import type { Account, Chain, Inclusion, SendErrorClass, SignedTransaction, Signer, Watch } from '../chains/port.ts'
import { bumpFees, feeLimitReached, type Fees } from '../domain/fees.ts'
import type { Intent } from '../domain/intent.ts'
import type { Attempt } from '../domain/lane.ts'
import { failpoint } from '../observability/failpoints.ts'
import type { Logger } from '../observability/logger.ts'
import type { Ledger } from './ledger.ts'

/** Gas of a transfer of nothing to oneself (EVM: 21,000). */
const noopGas = '21000'
/** A transaction that a pool took may have been evicted: it is sent again after so many blocks without inclusion. */
const resendAfterBlocks = 5

export interface FlightDeps {
  readonly chain: Chain
  readonly signer: Signer
  readonly ledger: Ledger
  readonly logger: Logger
  readonly bumpAfterBlocks: number
}

/** Whose call a flight carries; without it, it can only sign no-ops. */
export interface Owned {
  readonly intentId: string
  readonly intent: Intent
  readonly grantedTo: string
}

/** Where a nonce stands. `spent`: its block is final and what used it is none of our calls. */
export type FlightState =
  | { readonly kind: 'flying'; readonly note: string }
  | (Inclusion & { readonly kind: 'included'; readonly noop: boolean })
  | { readonly kind: 'spent'; readonly by: 'noop' | 'foreign' }

/**
 * One nonce on its way into a block: signs what the ledger recorded, sends it, follows it, raises its fee while it is the lowest that is
 * stuck. Goes on whether or not somebody waits for it.
 */
export class Flight {
  readonly nonce: number
  readonly intentId: string | undefined
  /** The request that the ledger answered with this nonce: only it may give the nonce back. */
  readonly grantedTo: string | undefined
  readonly #deps: FlightDeps
  readonly #intent: Intent | undefined
  readonly #watch: Watch
  readonly #signed = new Map<number, SignedTransaction>()
  readonly #noops = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #outbid: readonly Fees[]
  #attempts: readonly Attempt[]
  #estranged = false
  #spent: 'foreign' | undefined
  #usedBlocks = 0
  #lastSendHeight = -1
  #attemptHeight = -1
  #lowestSince: number | undefined
  #settledSend = false
  #taken = false
  #work: Promise<void> | undefined
  #note = 'not sent yet'
  #closed = false

  /** @param outbid fees of attempts that the ledger does not know and a pool may hold: whatever is signed here must exceed them */
  constructor(deps: FlightDeps, nonce: number, attempts: readonly Attempt[], owned?: Owned, outbid: readonly Fees[] = []) {
    this.#deps = deps
    this.nonce = nonce
    this.intentId = owned?.intentId
    this.grantedTo = owned?.grantedTo
    this.#intent = owned?.intent
    this.#attempts = attempts
    this.#outbid = outbid
    this.#watch = deps.chain.watch([])
    this.#watch.onChange(({ kind }) => {
      if (kind === 'unseen') this.#fellOut()
      this.#changed()
    })
  }

  get attempts(): number {
    return this.#attempts.length
  }

  get state(): FlightState {
    const { inclusion } = this.#watch
    if (inclusion.kind === 'included') {
      const noop = this.#noops.has(inclusion.receipt.hash)
      return noop && inclusion.final ? { kind: 'spent', by: 'noop' } : { ...inclusion, noop }
    }
    return this.#spent ? { kind: 'spent', by: this.#spent } : { kind: 'flying', note: this.#note }
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
    return this.#signed.size === 0 && !this.#work
  }

  /** Signs every recorded attempt, so that each hash is watched, and sends the last; once. Throws SIGNER_UNAVAILABLE. */
  async launch(): Promise<void> {
    if (!this.unsigned) return
    await this.#exclusively(async () => {
      failpoint('after-grant')
      await this.#signAll()
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
    if (this.#attempts.at(-1)?.kind === 'noop') {
      if (this.#signed.has(this.#attempts.length - 1)) return
      await this.#exclusively(async () => {
        await this.#signAll()
        await this.#send()
      })
      return
    }
    await this.bump('noop')
  }

  /** One more attempt, whatever was offered before. @param least an operator's own offer, wei: taken where it is more than that of the market */
  async bump(kind?: Attempt['kind'], least: Partial<Fees> = {}): Promise<void> {
    await this.#exclusively(async () => {
      const market = await this.#deps.chain.quote()
      const more = (a: string, b: string | undefined) => (b !== undefined && BigInt(b) > BigInt(a) ? b : a)
      await this.#outbidAll({ maxFee: more(market.maxFee, least.maxFee), tip: more(market.tip, least.tip) }, kind)
    })
  }

  /** What is stuck at the limit is not stuck for its price: the same bytes go again, and the market is asked again later. */
  async #bumpToLimit(): Promise<void> {
    const market = await this.#deps.chain.quote()
    if (!feeLimitReached(this.offered, market)) return this.#outbidAll(market)
    this.#attemptHeight = this.#height
    await this.#send()
  }

  /** One more attempt: recorded, then signed, then sent. */
  async #outbidAll(market: Fees, kind: Attempt['kind'] = this.#attempts.at(-1)?.kind ?? 'noop'): Promise<void> {
    const last = this.#attempts.at(-1)
    const gasLimit = kind === 'noop' ? noopGas : (last?.gasLimit ?? noopGas)
    const fees = bumpFees(this.offered, market)
    const index = this.#attempts.length
    const answer = await this.#deps.ledger.ask({ kind: 'attempt', nonce: this.nonce, index, attempt: { kind, gasLimit, ...fees } })
    const known = answer.kind === 'attempts' ? answer.attempts : []
    this.#estranged = known.length < index || answer.kind === 'refused'
    if (known.length <= index) return
    this.#attempts = known
    failpoint('after-bump-recorded')
    await this.#signAll()
    await this.#send()
  }

  /** Once per block, with the account as it stands. */
  onBlock(height: number, account: Account): void {
    if (!this.unmined) return
    if (this.nonce < account.finalizedNonce) {
      // Two blocks in a row: one lagging receipt read must not call our own transaction a stranger's.
      if (++this.#usedBlocks > 1) {
        this.#spent = 'foreign'
        this.#changed()
      }
      return
    }
    this.#usedBlocks = 0
    if (this.#work || this.nonce < account.latestNonce || this.#signed.size === 0) return
    // Only the lowest is judged stuck, and only from when it became the lowest: those behind it wait for it, not for a better fee.
    this.#lowestSince = this.nonce === account.latestNonce ? (this.#lowestSince ?? height) : undefined
    if (this.#lowestSince !== undefined && height - Math.max(this.#attemptHeight, this.#lowestSince) >= this.#deps.bumpAfterBlocks) {
      return this.#background(this.#exclusively(() => this.#bumpToLimit()))
    }
    const quiet = this.#settledSend && height - this.#lastSendHeight < resendAfterBlocks
    if (!quiet && height > this.#lastSendHeight) this.#background(this.#exclusively(() => this.#send()))
  }

  /** Resolves with true as soon as `done` holds, with false after `timeoutMs` or when the signal aborts. */
  until(done: (state: FlightState) => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
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

  async #signAll(): Promise<void> {
    const { chain, signer } = this.#deps
    for (const [index, attempt] of this.#attempts.entries()) {
      if (this.#signed.has(index)) continue
      const call = attempt.kind === 'noop' ? { to: signer.address, data: '0x', value: '0' } : this.#intent
      if (!call) continue
      const { maxFee, tip, gasLimit } = attempt
      const signed = await signer.sign({ networkId: chain.networkId, nonce: this.nonce, ...call, gasLimit, maxFee, tip })
      this.#signed.set(index, signed)
      if (attempt.kind === 'noop') this.#noops.add(signed.hash)
      this.#watch.add(signed.hash)
    }
    this.#attemptHeight = this.#height
  }

  async #send(): Promise<void> {
    const signed = this.#signed.get(this.#attempts.length - 1)
    if (!signed || this.#closed) return
    this.#lastSendHeight = this.#height
    const outcome = await this.#deps.chain.send(signed.raw)
    this.#settledSend = outcome.kind !== 'refused'
    this.#taken ||= this.#settledSend
    this.#note = outcome.kind === 'refused' ? `${outcome.error}: ${outcome.message}` : `sent, hash ${signed.hash}`
    if (outcome.kind !== 'refused') return
    this.#deps.logger.warn('a node refused a transaction', { nonce: this.nonce, class: outcome.error, reason: outcome.message })
    await this.#react(outcome.error)
  }

  /** After a send nothing is a verdict: what is refused is sent again at the next block, raised, or judged by the chain. */
  async #react(error: SendErrorClass): Promise<void> {
    switch (error) {
      case 'replacement-underpriced':
      case 'underpriced':
        // Raised at the next block if it is still the lowest and unmined.
        this.#attemptHeight = this.#height - this.#deps.bumpAfterBlocks
        this.#settledSend = true
        return
      case 'terminally-stuck':
        await this.#deps.ledger.ask({ kind: 'fill', nonce: this.nonce, reason: 'refused' })
        return
      case 'fatal':
        // Once a node has taken it, another's refusal says nothing. Before, the call can never be mined: the nonce still must be.
        if (this.#taken || this.#attempts.length > 1) return
        await this.#deps.ledger.ask({ kind: 'fill', nonce: this.nonce, reason: 'refused' })
        return
      default:
        return
    }
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
    this.#settledSend = false
    this.#lowestSince = undefined
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#note = error instanceof Error ? error.message : String(error)
      this.#deps.logger.warn('a flight met an error; it goes on at the next block', { nonce: this.nonce, reason: this.#note })
    })
  }

  get #height(): number {
    return this.#deps.chain.heads.current?.latest.height ?? 0
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
