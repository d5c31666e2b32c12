import type { SendErrorClass, Watch } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { AttemptRecord } from '../../temporal/contracts/transfer-steps.ts'
import { Broadcaster } from './broadcaster.ts'
import type { FeeEscalatorDeps } from './fee-escalator.ts'
import type { LedgerClient } from '../ledger-client.ts'
import { SignedAttempts } from './signed-attempts.ts'
import type { StuckDetector } from './stuck-detector.ts'

/** The call that a nonce was granted for; without it only no-ops can be signed. */
export interface OwnedCall {
  readonly intentId: string
  readonly intent: Intent
  /** The request that the ledger answered with this nonce. Absent: the nonce is not this try's to give back. */
  readonly grantedTo?: string
}

export interface AttemptSenderDeps extends FeeEscalatorDeps {
  readonly ledger: LedgerClient
}

/** Records the attempts of one nonce in the ledger, signs what is recorded, and sends the best of it. Every hash that is signed is watched. */
export class AttemptSender {
  readonly watch: Watch
  readonly signed: SignedAttempts
  readonly broadcaster: Broadcaster
  readonly #deps: AttemptSenderDeps
  readonly #nonce: number
  readonly #owned: OwnedCall | undefined
  readonly #stuck: StuckDetector
  #attempts: readonly Attempt[]
  #forgotten = false
  #closed = false

  constructor(deps: AttemptSenderDeps, nonce: number, attempts: readonly Attempt[], owned: OwnedCall | undefined, stuck: StuckDetector) {
    this.#deps = deps
    this.#nonce = nonce
    this.#attempts = attempts
    this.#owned = owned
    this.#stuck = stuck
    this.watch = deps.chain.watch([])
    this.signed = new SignedAttempts(deps, nonce, owned?.intent)
    this.broadcaster = new Broadcaster(deps, nonce)
  }

  get attempts(): readonly Attempt[] {
    return this.#attempts
  }

  /** The ledger knows fewer attempts than this process (it was wiped, and started anew): none can be added. */
  get forgotten(): boolean {
    return this.#forgotten
  }

  /** Every attempt that was signed here, in order, and what became of it. */
  get tried(): AttemptRecord[] {
    const { inclusion } = this.watch
    return this.signed.records(this.#attempts, inclusion.kind === 'included' ? inclusion.receipt.hash : undefined)
  }

  get isFilling(): boolean {
    return this.#attempts.at(-1)?.kind === 'noop'
  }

  isNoop(hash: string): boolean {
    return this.#attempts[this.signed.placeOf(hash) ?? -1]?.kind === 'noop'
  }

  /** Attempts that the ledger told of; fewer than are known here are ignored. */
  learn(attempts: readonly Attempt[]): void {
    if (attempts.length > this.#attempts.length) this.#attempts = attempts
  }

  /** Signs every recorded attempt and sends the best. Throws what the signer throws. */
  async signAndSend(): Promise<void> {
    await this.#sign()
    await this.send()
  }

  /** The same for the first time: a nonce whose call may not be signed goes back, or is filled if an earlier try may have sent it. */
  async signAndSendFirst(): Promise<void> {
    failpoint('after-grant')
    await this.#sign().catch((error: unknown) => this.#onSigningRefused(error))
    failpoint('after-sign')
    await this.send()
    failpoint('after-send')
  }

  /** Records one more attempt, then signs it, then sends it. Nothing is signed that the ledger does not have. */
  async add(attempt: Attempt): Promise<void> {
    const index = this.#attempts.length
    const answer = await this.#deps.ledger.ask({ kind: 'attempt', nonce: this.#nonce, index, attempt })
    const known = answer.kind === 'attempts' ? answer.attempts : []
    this.#forgotten = known.length < index || answer.kind === 'refused'
    if (known.length <= index) return
    this.#attempts = known
    failpoint('after-bump-recorded')
    await this.#sign()
    if (this.signed.refuses(known.length - 1)) await this.#askForFill()
    await this.send()
  }

  /**
   * Sends the best that is signed. No answer of a node is a verdict: what is refused is sent again at the next block, raised, or judged by the
   * chain.
   */
  async send(): Promise<void> {
    const { best } = this.signed
    if (!best || this.#closed) return
    const error = await this.broadcaster.send(best, this.#height)
    if (error) await this.#onRefused(error)
  }

  close(): void {
    this.#closed = true
    this.watch.close()
  }

  async #sign(): Promise<void> {
    for (const hash of await this.signed.signAll(this.#attempts)) this.watch.add(hash)
    this.#stuck.attempted(this.#height)
  }

  async #onSigningRefused(error: unknown): Promise<never> {
    const { intentId, grantedTo } = this.#owned ?? {}
    if (error instanceof RelayerError && error.code === 'SIGNING_REFUSED' && intentId) {
      const answer = grantedTo && (await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo }))
      if (!answer || answer.kind === 'held') await this.#askForFill()
    }
    throw error
  }

  async #onRefused(error: SendErrorClass): Promise<void> {
    // No pool has a transaction that all nodes find too cheap. One that a replacement was to replace is still there: only the lowest need be raised.
    if (error === 'underpriced') this.#stuck.tooCheap('any')
    if (error === 'replacement-underpriced') this.#stuck.tooCheap('lowest')
    if (this.broadcaster.hopeless && !this.isFilling) await this.#askForFill()
  }

  async #askForFill(): Promise<void> {
    await this.#deps.ledger.ask({ kind: 'fill', nonce: this.#nonce, reason: 'refused' })
  }

  get #height(): number {
    return this.#deps.chain.heads.current?.latest.height ?? 0
  }
}
