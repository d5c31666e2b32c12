import type { Account, Chain, MinedTransaction, Signer } from '../../chains/port.ts'
import { callHash } from '../call-hash.ts'
import type { SignedAttempts } from './signed-attempts.ts'

/** Without a receipt of ours for so many blocks after the account's nonce passed: a transaction of ours is found before that. */
const patienceBlocks = 2
/** Between two looks while it is not final, blocks. */
const everyBlocks = 5

/** `ours`: an attempt of ours under a hash that was not known. `external`: in a final block; `hash` where the nodes tell. */
export type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

/**
 * Finds out who used a nonce that the account has passed though no receipt of ours is there: an earlier process with a signer that never gives the
 * same hash twice, or somebody else with the key. That it is somebody else is said only when it is final, and on the word of more than half of
 * the nodes; where they no longer tell (pruned), on two looks at different blocks.
 */
export class NonceConflictCheck {
  readonly #chain: Chain
  readonly #signer: Signer
  readonly #nonce: number
  readonly #callHash: string | undefined
  #blocks = 0
  #finalBlocks = 0
  #silent = 0
  #looking = false

  /** @param callHash of the call that the nonce was given for */
  constructor({ chain, signer }: { chain: Chain; signer: Signer }, nonce: number, callHash: string | undefined) {
    this.#chain = chain
    this.#signer = signer
    this.#nonce = nonce
    this.#callHash = callHash
  }

  /** The account's nonce is not past ours, or one of ours is in a block. */
  reset(): void {
    this.#blocks = 0
    this.#finalBlocks = 0
    this.#silent = 0
  }

  /** Once per block in which the account's nonce is past ours. Undefined: nothing is known yet. Throws NODES_DISAGREE, NODE_UNAVAILABLE. */
  async look(account: Account, signatures: SignedAttempts): Promise<NonceUser | undefined> {
    const final = this.#nonce < account.finalizedNonce
    this.#blocks += 1
    this.#finalBlocks = final ? this.#finalBlocks + 1 : 0
    const due = final ? this.#finalBlocks >= patienceBlocks : this.#blocks % everyBlocks === patienceBlocks
    if (this.#looking || !due) return undefined
    this.#looking = true
    try {
      return this.#judge(await this.#chain.mined(this.#signer.address, this.#nonce), final, signatures)
    } finally {
      this.#looking = false
    }
  }

  #judge(mined: MinedTransaction | undefined, final: boolean, signatures: SignedAttempts): NonceUser | undefined {
    if (mined && signatures.recognise(mined)) return { kind: 'ours', hash: mined.hash }
    // Signed by a process of before, with fees that this one was never told, or not the means to sign again.
    if (mined && callHash(mined.call) === this.#callHash) return { kind: 'ours', hash: mined.hash }
    if (!final) return undefined
    if (!mined) return ++this.#silent > 1 ? { kind: 'external', hash: undefined } : undefined
    return mined.block.height <= (this.#chain.heads.current?.finalized ?? 0) ? { kind: 'external', hash: mined.hash } : undefined
  }
}
