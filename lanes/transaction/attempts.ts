import type { MinedTransaction, Watch } from '../../chains/port.ts'
import type { SignedTransaction, UnsignedTransaction } from '../../chains/signing-port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { SignedHash } from '../../temporal/contracts/operator-transaction.ts'
import type { AttemptRecord } from '../../temporal/contracts/transfer-steps.ts'
import type { LaneDeps } from '../deps.ts'
import { isLasting, type SigningRefusal, signingRefusal } from './refusals.ts'
import { problemOf } from '../../observability/severity.ts'

interface SigningCall {
  readonly intentId?: string
  /** Absent: only no-ops can be signed. */
  readonly intent?: Intent
  /** Signed for the nonce by earlier processes. */
  readonly tried?: readonly SignedHash[] | undefined
}

/**
 * The attempts of one nonce: recorded in the ledger, signed in its order, watched by hash. A signer that takes a random number each time (KMS) gives every
 * process another hash: a transaction of an earlier process is recognised by its signing hash.
 */
export class Attempts {
  readonly watch: Watch
  recorded: readonly Attempt[]
  /** The ledger knows fewer attempts than this process (it was wiped, and started anew): none can be added. */
  forgotten = false
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #intent: Intent | undefined
  readonly #intentId: string | undefined
  /** No-ops that earlier processes signed, by hash. */
  readonly #earlierNoops: ReadonlySet<string>
  /** By place in the ledger's order. */
  readonly #signed = new Map<number, SignedTransaction>()
  readonly #refused = new Map<number, RelayerError>()
  /** Hash of a transaction of ours → place of its attempt. */
  readonly #places = new Map<string, number>()

  constructor(deps: LaneDeps, nonce: number, recorded: readonly Attempt[], { intent, intentId, tried = [] }: SigningCall) {
    this.#deps = deps
    this.#nonce = nonce
    this.recorded = recorded
    this.#intent = intent
    this.#intentId = intentId
    this.#earlierNoops = new Set(tried.flatMap(({ kind, hash }) => (kind === 'noop' ? [hash] : [])))
    this.watch = deps.chain.watch(tried.map(({ hash }) => hash))
  }

  get isFilling(): boolean {
    return this.recorded.at(-1)?.kind === 'noop'
  }

  get noneSigned(): boolean {
    return this.#signed.size === 0
  }

  get isLastSigned(): boolean {
    return this.#signed.has(this.recorded.length - 1)
  }

  /** Why the signer refused the last attempt; undefined: it did not. */
  get lastRefused(): SigningRefusal | undefined {
    return signingRefusal(this.#refused.get(this.recorded.length - 1))
  }

  /** What a pool may hold: what the signer refuses for good was signed by no process with this config, and need not be outbid, whoever had it recorded. */
  get offered(): readonly Attempt[] {
    return this.recorded.filter((_, place) => !this.#isForGood(place))
  }

  /** Without those that the signer refuses for now: an earlier process may have sent them, or somebody invented them. */
  get allowed(): readonly Attempt[] {
    return this.recorded.filter((_, place) => !this.#refused.has(place))
  }

  /** The signer may sign an attempt later that it refused. */
  get mayBeSignedLater(): boolean {
    return this.allowed.length < this.offered.length
  }

  /** The dearest that was signed: every attempt is dearer than those before it. */
  get best(): SignedTransaction | undefined {
    return this.#signed.get(Math.max(...this.#signed.keys()))
  }

  /** Every attempt that was signed here, in order, and what became of it. */
  get tried(): AttemptRecord[] {
    const { inclusion } = this.watch
    const mined = inclusion.kind === 'included' ? inclusion.receipt.hash : undefined
    const place = mined === undefined ? undefined : this.#places.get(mined)
    return this.recorded.flatMap(({ kind, maxFee, tip }, index) => {
      const signed = this.#signed.get(index)
      if (!signed) return []
      const won = place === index
      return [{ kind, hash: won && mined ? mined : signed.hash, maxFee, tip, fate: won ? 'mined' : mined ? 'outbid' : 'open' }]
    })
  }

  isNoop(hash: string): boolean {
    return this.recorded[this.#places.get(hash) ?? -1]?.kind === 'noop' || this.#earlierNoops.has(hash)
  }

  /** Attempts that the ledger told of; fewer than are known here are ignored. */
  learn(attempts: readonly Attempt[]): void {
    if (attempts.length > this.recorded.length) this.recorded = attempts
  }

  /** Records one more attempt. Nothing is signed that the ledger does not have. False: the ledger has taken none. */
  async record(attempt: Attempt): Promise<boolean> {
    const index = this.recorded.length
    const answer = await this.#deps.ledger.ask({ kind: 'attempt', nonce: this.#nonce, index, attempt })
    const known = answer.kind === 'attempts' ? answer.attempts : []
    this.forgotten = known.length < index || answer.kind === 'refused'
    this.learn(known)
    const isRecorded = known.length > index
    if (isRecorded && index > 0) this.#deps.raised?.(attempt.kind)
    return isRecorded
  }

  /**
   * Signs every attempt that is not signed yet; calls only if the intent is at hand. One that the signer refuses is skipped: later ones, no-ops among
   * them, must still be signed. Throws what the signer throws, but no refusal.
   */
  async trySign(): Promise<void> {
    for (const [place, attempt] of this.recorded.entries()) {
      if (this.#signed.has(place) || this.#isForGood(place)) continue
      const transaction = this.#transaction(attempt)
      if (transaction) await this.#sign(place, transaction)
    }
  }

  /** As `trySign`; throws the signer's refusal, too, if nothing is signed. */
  async sign(): Promise<void> {
    await this.trySign()
    const [refusal] = this.#refused.values()
    if (this.noneSigned && refusal) throw refusal
  }

  /** The signer's refusal of an attempt that is not recorded yet. Throws what the reads of a proof throw. */
  async refusal(attempt: Attempt): Promise<RelayerError | undefined> {
    const transaction = this.#transaction(attempt)
    try {
      if (transaction) await this.#deps.signer.check?.(transaction)
      return undefined
    } catch (error) {
      if (error instanceof RelayerError && signingRefusal(error)) return error
      throw error
    }
  }

  #isForGood(place: number): boolean {
    const refused = this.#refused.get(place)
    return refused !== undefined && isLasting(refused)
  }

  /** Undefined: the call is not at hand. */
  #transaction({ kind, maxFee, tip, gasLimit }: Attempt): UnsignedTransaction | undefined {
    const { chain, signer } = this.#deps
    const call = kind === 'noop' ? { to: signer.address, data: '0x', value: '0' } : this.#intent
    if (!call) return undefined
    const { to, data, value } = call
    return { networkId: chain.networkId, nonce: this.#nonce, gasLimit, maxFee, tip, to, data, value }
  }

  async #sign(place: number, transaction: UnsignedTransaction): Promise<void> {
    try {
      const signed = await this.#deps.signer.sign(transaction)
      if (this.#intentId)
        await this.#deps.ledger.recordSigned(this.#intentId, {
          nonce: this.#nonce,
          kind: this.recorded[place]?.kind ?? 'call',
          hash: signed.hash,
        })
      this.#refused.delete(place)
      this.#signed.set(place, signed)
      this.#places.set(signed.hash, place)
      this.watch.add(signed.hash)
    } catch (error) {
      if (!(error instanceof RelayerError) || !signingRefusal(error)) throw error
      if (!this.#refused.has(place)) this.#deps.logger.warn('the signer refused an attempt', { nonce: this.#nonce, ...problemOf(error) })
      this.#refused.set(place, error)
    }
  }

  /** Is it one of our attempts, whichever process signed it? */
  recognise({ hash, signingHash }: MinedTransaction): boolean {
    for (const [place, signed] of this.#signed) {
      if (signed.signingHash !== signingHash) continue
      this.#places.set(hash, place)
      return true
    }
    return false
  }
}
