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
 * Portage. That is said only when it is final, by more than half of the nodes, or where they no longer have the block, on looks at two blocks.
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
      return this.#judge(await chain.mined(signer.address, this.#nonce), final, attempts)
    } finally {
      this.#looking = false
    }
  }

  #judge(mined: MinedTransaction | undefined, final: boolean, attempts: Attempts): NonceUser | undefined {
    if (mined && attempts.recognise(mined)) return { kind: 'ours', hash: mined.hash }
    // Signed by an earlier process, with fees that this one was never told, or with a signer that this one does not have.
    if (mined && callHash(mined.call) === this.#callHash) return { kind: 'ours', hash: mined.hash }
    if (!final) return undefined
    if (!mined) return ++this.#silent > 1 ? { kind: 'external', hash: undefined } : undefined
    return mined.block.height <= (this.#deps.chain.heads.current?.finalized ?? 0) ? { kind: 'external', hash: mined.hash } : undefined
  }
}
