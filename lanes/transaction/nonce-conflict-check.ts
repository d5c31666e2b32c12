import type { Account, MinedTransaction } from '../../chains/port.ts'
import { callHash, type LaneDeps } from '../deps.ts'
import type { Attempts } from './attempts.ts'

/** Blocks between the account passing the nonce and the first check: an own receipt is found before that. */
const graceBlocks = 2
const everyBlocks = 5

/** `ours`: an own attempt under an unknown hash. `external`: in a final block; `hash` if the nodes have it. */
export type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

/**
 * Finds the user of a nonce without an own receipt. Most nodes must count it as used at finality, and show it
 * or have pruned it at two checks. A pruned one may be an own one: an operator's transaction is not sent again.
 */
export class NonceConflictCheck {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #callHash: string | undefined
  #blocks = 0
  #finalBlocks = 0
  #silent = 0
  #checking = false

  constructor(deps: LaneDeps, nonce: number, callHash: string | undefined) {
    this.#deps = deps
    this.#nonce = nonce
    this.#callHash = callHash
  }

  reset(): void {
    this.#blocks = 0
    this.#finalBlocks = 0
    this.#silent = 0
  }

  /** Called at each block after the account passed the nonce. Undefined: not known yet. Throws what reads throw. */
  async check(account: Account, attempts: Attempts): Promise<NonceUser | undefined> {
    const { chain, signer } = this.#deps
    const final = this.#nonce < account.finalizedNonce
    this.#blocks += 1
    this.#finalBlocks = final ? this.#finalBlocks + 1 : 0
    const due = final ? this.#finalBlocks >= graceBlocks : this.#blocks % everyBlocks === graceBlocks
    if (this.#checking || !due) return undefined
    this.#checking = true
    try {
      const mined = await chain.mined(signer.address, this.#nonce)
      const ours = mined && this.#ours(mined, attempts)
      if (ours || !final) return ours
      // The count of one node is not enough: it may lie.
      if ((await chain.agreedNonce(signer.address)) <= this.#nonce) return undefined
      return this.#external(mined)
    } finally {
      this.#checking = false
    }
  }

  #ours(mined: MinedTransaction, attempts: Attempts): NonceUser | undefined {
    // By its call: an earlier process may have signed with fees or a signer that this one does not know.
    const isOurs = attempts.recognise(mined) || callHash(mined.call) === this.#callHash
    return isOurs ? { kind: 'ours', hash: mined.hash } : undefined
  }

  #external(mined: MinedTransaction | undefined): NonceUser | undefined {
    if (!mined) return ++this.#silent > 1 ? { kind: 'external', hash: undefined } : undefined
    return mined.block.height <= (this.#deps.chain.heads.current?.finalized ?? 0) ? { kind: 'external', hash: mined.hash } : undefined
  }
}
