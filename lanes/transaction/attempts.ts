import type { Inclusion, MinedTransaction, Watch } from '../../chains/port.ts'
import type { SignedTransaction, UnsignedTransaction } from '../../chains/signing-port.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent, Attempt } from '../../domain/lane/lane.ts'
import { problemOf } from '../../observability/severity.ts'
import { operatorTransactionPrefix } from '../../temporal/contracts/names.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import { callHash, type KnownCall, type LaneDeps } from '../deps.ts'
import type { RaiseReason } from './fee-escalator.ts'

/**
 * `call`: refused for ever. `limit`: a cheaper call may pass or, for a sum of an hour or a day, the same call later.
 * `order`: refused until an operator ends or corrects the order.
 */
type SigningRefusal = 'call' | 'limit' | 'order'

const ordered: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['HALTED', 'DENIAL_UNCLEAR', 'RECIPIENT_DENIED', 'TOKEN_DENIED'])

type AttemptTimes = { at: number } & { -readonly [Time in 'acceptedAt' | 'includedAt' | 'reorgedAt']?: number }

const passingLimits: readonly unknown[] = ['maxSpendingPerHourWei', 'maxSpendingPerDayWei']

/** How the signer refused. Undefined for other errors, after which the signer may sign the same transaction. */
export function signingRefusal(error: unknown): SigningRefusal | undefined {
  if (!(error instanceof RelayerError)) return undefined
  if (error.code === 'CALL_UNJUSTIFIED') return 'call'
  if (ordered.has(error.code)) return 'order'
  if (error.code !== 'SIGNING_REFUSED') return undefined
  return error.facts['limit'] === undefined ? 'call' : 'limit'
}

/**
 * The attempts for one nonce. They are identified by signing hash, because each signature of a KMS gives the
 * transaction a different hash.
 */
export class Attempts {
  readonly watch: Watch
  recorded: readonly Attempt[] = []
  /** True if the ledger began anew and knows fewer attempts than this process. Then, no attempt can be added. */
  forgotten = false
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #call: KnownCall
  readonly #earlierNoops: ReadonlySet<string>
  readonly #signed = new Map<number, SignedTransaction>()
  readonly #refused = new Map<number, RelayerError>()
  readonly #places = new Map<string, number>()
  readonly #times: AttemptTimes[] = []

  constructor(deps: LaneDeps, nonce: number, recorded: readonly Attempt[], call: KnownCall) {
    const { tried = [] } = call
    this.#deps = deps
    this.#nonce = nonce
    this.#call = call
    this.#earlierNoops = new Set(tried.flatMap(({ kind, hash }) => (kind === 'noop' ? [hash] : [])))
    this.watch = deps.chain.watch(tried.map(({ hash }) => hash))
    this.learn(recorded)
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

  get lastRefused(): SigningRefusal | undefined {
    return signingRefusal(this.#refused.get(this.recorded.length - 1))
  }

  /** Attempts that a pool may hold. Attempts that were refused for good were never signed. */
  get offered(): readonly Attempt[] {
    return this.recorded.filter((_, place) => !this.#isRefusedForGood(place))
  }

  get allowed(): readonly Attempt[] {
    return this.recorded.filter((_, place) => !this.#refused.has(place))
  }

  get #mayBeSignedLater(): boolean {
    return this.allowed.length < this.offered.length
  }

  get best(): SignedTransaction | undefined {
    return this.#signed.get(Math.max(...this.#signed.keys()))
  }

  get tried(): SignedAttempt[] {
    const { inclusion } = this.watch
    const receipt = inclusion.kind === 'included' ? inclusion.receipt : undefined
    const place = receipt && this.#places.get(receipt.hash)
    return this.recorded.flatMap((attempt, index): SignedAttempt[] => {
      const signed = this.#signed.get(index)
      const call = this.#callOf(attempt)
      if (!signed || !call) return []
      const { kind, gasLimit, maxFee, tip } = attempt
      const times = this.#times[index]
      const made = { kind, to: call.to, value: call.value, gasLimit, maxFee, tip, ...times }
      if (place !== index || !receipt) {
        const fate = receipt ? 'outbid' : times?.acceptedAt === undefined ? 'signed' : 'open'
        return [{ ...made, hash: signed.hash, fate }]
      }
      return [{ ...made, hash: receipt.hash, fate: receipt.status === 'reverted' ? 'reverted' : 'mined', gasUsed: receipt.gasUsed }]
    })
  }

  accepted(hash: string): void {
    const times = this.#times[this.#places.get(hash) ?? -1]
    if (times) times.acceptedAt ??= Date.now()
  }

  noteInclusion(inclusion: Inclusion): void {
    if (inclusion.kind === 'unseen') {
      const left = this.#times.find(({ includedAt = 0, reorgedAt = 0 }) => includedAt > reorgedAt)
      if (left) left.reorgedAt = Date.now()
      return
    }
    const times = this.#times[this.#places.get(inclusion.receipt.hash) ?? -1]
    if (times && (times.includedAt ?? 0) <= (times.reorgedAt ?? 0)) times.includedAt = Date.now()
  }

  isNoop(hash: string): boolean {
    return this.recorded[this.#places.get(hash) ?? -1]?.kind === 'noop' || this.#earlierNoops.has(hash)
  }

  learn(attempts: readonly Attempt[]): void {
    if (attempts.length > this.recorded.length) this.recorded = attempts
    while (this.#times.length < this.recorded.length) this.#times.push({ at: Date.now() })
  }

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
   * Signs all attempts that are not refused for good. Throws a refusal only if no attempt is signed, but throws all
   * other errors.
   */
  async sign(): Promise<void> {
    await this.#trySign()
    const [refusal] = this.#refused.values()
    if (this.noneSigned && refusal) throw refusal
  }

  /** Tries to sign refused attempts again. True if the last attempt is now signed, and does what the raise was for. */
  async signLater(reason: RaiseReason): Promise<boolean> {
    if (!this.#mayBeSignedLater || this.isLastSigned) return false
    await this.#trySign()
    const serves = reason.why !== 'order' || (reason.kind === 'noop' && this.isFilling)
    return serves && this.isLastSigned
  }

  /**
   * Proposes fees above those of every attempt that a pool may hold or, if limits forbid that, above those of the
   * attempts that the signer has not refused. Throws read errors.
   */
  async propose(
    reason: RaiseReason,
    next: (known: readonly Attempt[]) => Promise<Attempt | undefined>,
  ): Promise<{ attempt: Attempt | undefined; refusal: RelayerError | undefined }> {
    const proposal = async (known: readonly Attempt[]) => {
      const attempt = await next(known)
      return { attempt, refusal: attempt && (await this.#refusal(attempt)) }
    }
    const found = await proposal(this.offered)
    if (!this.#mayBeSignedLater || (found.attempt && !found.refusal)) return found
    const isNamed = reason.why === 'order' && reason.kind !== undefined
    return this.allowed.length > 0 || isNamed ? proposal(this.allowed) : found
  }

  recognise({ hash, signingHash, call }: MinedTransaction): boolean {
    for (const [place, signed] of this.#signed) {
      if (signed.signingHash !== signingHash) continue
      this.#places.set(hash, place)
      return true
    }
    return callHash(call) === this.#call.callHash
  }

  async #trySign(): Promise<void> {
    for (const [place, attempt] of this.recorded.entries()) {
      if (this.#signed.has(place) || this.#isRefusedForGood(place)) continue
      const transaction = this.#transaction(attempt)
      if (transaction) await this.#sign(place, transaction)
    }
  }

  async #refusal(attempt: Attempt): Promise<RelayerError | undefined> {
    const transaction = this.#transaction(attempt)
    try {
      if (transaction) await this.#deps.signer.check?.(transaction)
      return undefined
    } catch (error) {
      if (error instanceof RelayerError && signingRefusal(error)) return error
      throw error
    }
  }

  #isRefusedForGood(place: number): boolean {
    const refusal = this.#refused.get(place)
    const facts = refusal?.facts
    // An order may end, and an earlier process may have signed the attempt before the order.
    if (signingRefusal(refusal) === 'order') return false
    // Spending and data fees fall with time, so a refusal because of them may end.
    return facts !== undefined && !passingLimits.includes(facts['limit']) && facts['dataFee'] === undefined
  }

  #callOf({ kind }: Attempt): Intent | undefined {
    return kind === 'noop' ? { to: this.#deps.signer.address, data: '0x', value: '0' } : this.#call.intent
  }

  #transaction(attempt: Attempt): UnsignedTransaction | undefined {
    const call = this.#callOf(attempt)
    if (!call) return undefined
    const { to, data, value } = call
    const { gasLimit, maxFee, tip } = attempt
    return { networkId: this.#deps.chain.networkId, nonce: this.#nonce, gasLimit, maxFee, tip, to, data, value }
  }

  async #sign(place: number, transaction: UnsignedTransaction): Promise<void> {
    const { ledger, signer, logger } = this.#deps
    const { intentId } = this.#call
    const nonce = this.#nonce
    try {
      const signed = await signer.sign(transaction)
      const { hash } = signed
      if (intentId?.startsWith(operatorTransactionPrefix))
        await ledger.recordSigned(intentId, { nonce, kind: this.recorded[place]?.kind ?? 'call', hash })
      this.#refused.delete(place)
      this.#signed.set(place, signed)
      this.#places.set(hash, place)
      this.watch.add(hash)
    } catch (error) {
      if (!(error instanceof RelayerError) || !signingRefusal(error)) throw error
      if (!this.#refused.has(place)) logger.warn('the signer refused an attempt', { nonce, ...problemOf(error) })
      this.#refused.set(place, error)
    }
  }
}
