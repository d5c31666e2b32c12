import type { Chain, MinedTransaction, SignedTransaction, Signer } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { AttemptRecord } from '../../temporal/contracts/transfer-steps.ts'

/**
 * The signed transactions of one nonce: by attempt, in the order of the ledger, and by hash. A signer that takes a random number each time (KMS)
 * gives every process another hash for the same attempt; a transaction of an earlier process is recognised by its signing hash.
 */
export class SignedAttempts {
  readonly #chain: Chain
  readonly #signer: Signer
  readonly #nonce: number
  readonly #intent: Intent | undefined
  readonly #signed = new Map<number, SignedTransaction>()
  /** Hash of a transaction of ours → place of its attempt. */
  readonly #places = new Map<string, number>()
  readonly #refused = new Map<number, RelayerError>()

  constructor({ chain, signer }: { chain: Chain; signer: Signer }, nonce: number, intent: Intent | undefined) {
    this.#chain = chain
    this.#signer = signer
    this.#nonce = nonce
    this.#intent = intent
  }

  get none(): boolean {
    return this.#signed.size === 0
  }

  has(place: number): boolean {
    return this.#signed.has(place)
  }

  /** The signing policy does not allow this attempt. */
  refuses(place: number): boolean {
    return this.#refused.has(place)
  }

  /** The dearest that was signed: every attempt is dearer than those before it. */
  get best(): SignedTransaction | undefined {
    return this.#signed.get(Math.max(...this.#signed.keys()))
  }

  /**
   * Signs every attempt that is not signed yet; calls only if the intent is at hand. An attempt that the signing policy refuses is skipped: later
   * ones, no-ops among them, must still be signed. Returns the new hashes. Throws what the signer throws, and SIGNING_REFUSED if nothing is signed.
   */
  async signAll(attempts: readonly Attempt[]): Promise<string[]> {
    const hashes: string[] = []
    for (const [place, attempt] of attempts.entries()) {
      if (this.#signed.has(place) || this.#refused.has(place)) continue
      const call = attempt.kind === 'noop' ? { to: this.#signer.address, data: '0x', value: '0' } : this.#intent
      if (!call) continue
      const signed = await this.#sign(place, attempt, call)
      if (!signed) continue
      this.#signed.set(place, signed)
      this.#places.set(signed.hash, place)
      hashes.push(signed.hash)
    }
    const [refusal] = this.#refused.values()
    if (this.none && refusal) throw refusal
    return hashes
  }

  async #sign(place: number, { maxFee, tip, gasLimit }: Attempt, call: Intent): Promise<SignedTransaction | undefined> {
    try {
      const fields = { networkId: this.#chain.networkId, nonce: this.#nonce, gasLimit, maxFee, tip }
      return await this.#signer.sign({ ...fields, to: call.to, data: call.data, value: call.value })
    } catch (error) {
      if (!(error instanceof RelayerError) || error.code !== 'SIGNING_REFUSED') throw error
      this.#refused.set(place, error)
      return undefined
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

  /** @param hash of a transaction of ours */
  placeOf(hash: string): number | undefined {
    return this.#places.get(hash)
  }

  /** What became of each signed attempt. @param mined hash of the one that is in a block, if one is */
  records(attempts: readonly Attempt[], mined: string | undefined): AttemptRecord[] {
    const place = mined === undefined ? undefined : this.#places.get(mined)
    return attempts.flatMap(({ kind, maxFee, tip }, index) => {
      const signed = this.#signed.get(index)
      if (!signed) return []
      const won = place === index
      return [{ kind, hash: won && mined ? mined : signed.hash, maxFee, tip, fate: won ? 'mined' : mined ? 'outbid' : 'open' }]
    })
  }
}
