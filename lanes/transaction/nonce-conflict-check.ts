import type { Account, MinedTransaction } from '../../chains/port.ts'
import type { LaneDeps } from '../deps.ts'
import { callHash } from '../lane-call.ts'
import type { Attempts } from './attempts.ts'

/** The check begins so many blocks after the account's nonce passed ours: a receipt of ours is found before that. */
const graceBlocks = 2
/** Between two looks while it is not final, blocks. */
const everyBlocks = 5

/** `ours`: an attempt of ours under a hash that was not known. `external`: a transaction in a final block; `hash` where the nodes tell it. */
export type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

/**
 * Finds out what used a nonce that the account has passed though no receipt of ours is there: an attempt of an earlier process, or a transaction from outside
 * Portage. That is said only when more than half of the nodes count the nonce as used at finality, and say what used it; or where they no longer have the
 * block, on looks at two blocks: then it may still be one of ours, and an operator's transaction is not sent again (activities/operator-transaction/operator-transaction.ts).
 */
export class NonceConflictCheck {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #callHash: string | undefined
  #blocks = 0
  #finalBlocks = 0
  #silent = 0
  #looking = false

  /** @param callHash of the call that the nonce was given for */
  constructor(deps: LaneDeps, nonce: number, callHash: string | undefined) {
    this.#deps = deps
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
  async look(account: Account, attempts: Attempts): Promise<NonceUser | undefined> {
    const { chain, signer } = this.#deps
    const final = this.#nonce < account.finalizedNonce
    this.#blocks += 1
    this.#finalBlocks = final ? this.#finalBlocks + 1 : 0
    const due = final ? this.#finalBlocks >= graceBlocks : this.#blocks % everyBlocks === graceBlocks
    if (this.#looking || !due) return undefined
    this.#looking = true
    try {
      const mined = await chain.mined(signer.address, this.#nonce)
      const ours = mined && this.#ours(mined, attempts)
      if (ours || !final) return ours
      // One node's count is not enough: with a lie it would be used up for all that this process can see.
      if ((await chain.agreedNonce(signer.address)) <= this.#nonce) return undefined
      return this.#external(mined)
    } finally {
      this.#looking = false
    }
  }

  #ours(mined: MinedTransaction, attempts: Attempts): NonceUser | undefined {
    // By its call: signed by an earlier process, with fees that this one was never told, or with a signer that this one does not have.
    const isOurs = attempts.recognise(mined) || callHash(mined.call) === this.#callHash
    return isOurs ? { kind: 'ours', hash: mined.hash } : undefined
  }

  #external(mined: MinedTransaction | undefined): NonceUser | undefined {
    if (!mined) return ++this.#silent > 1 ? { kind: 'external', hash: undefined } : undefined
    return mined.block.height <= (this.#deps.chain.heads.current?.finalized ?? 0) ? { kind: 'external', hash: mined.hash } : undefined
  }
}
