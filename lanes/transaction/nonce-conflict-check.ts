import type { Account, MinedTransaction } from '../../chains/port.ts'
import type { LaneDeps } from '../deps.ts'
import type { Attempts } from './attempts.ts'

/** Checks begin this many blocks after the nonce was used. By then, the receipt of an own attempt has been found. */
const graceBlocks = 2
const everyBlocks = 5

/**
 * `ours`: our attempt, under a hash that we did not know. `external`: another transaction. If no node shows it, it has
 * no `hash`.
 */
type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

export type NonceConflictCheck = ReturnType<typeof createNonceConflictCheck>

/**
 * Finds out which transaction used a nonce.
 * A transaction counts as external once its block is final and most nodes count the nonce as used at finality. If two
 * checks find no transaction (pruned), the nonce counts as used externally, although Portage may have sent the
 * transaction.
 */
export function createNonceConflictCheck({ chain, signer }: LaneDeps, nonce: number) {
  let blocks = 0
  let finalBlocks = 0
  let silent = 0
  let checking = false

  function external(mined: MinedTransaction | undefined): NonceUser | undefined {
    if (!mined) return ++silent > 1 ? { kind: 'external', hash: undefined } : undefined
    return mined.block.height <= (chain.heads.current?.finalized ?? 0) ? { kind: 'external', hash: mined.hash } : undefined
  }

  return {
    reset(): void {
      blocks = 0
      finalBlocks = 0
      silent = 0
    },
    /**
     * Call this at each block after the nonce was used. Undefined if it is not known yet who used the nonce. Throws
     * read errors.
     */
    async check(account: Account, attempts: Attempts): Promise<NonceUser | undefined> {
      const final = nonce < account.finalizedNonce
      blocks += 1
      finalBlocks = final ? finalBlocks + 1 : 0
      const due = final ? finalBlocks >= graceBlocks : blocks % everyBlocks === graceBlocks
      if (checking || !due) return undefined
      checking = true
      try {
        const mined = await chain.mined(signer.address, nonce)
        if (mined && attempts.recognise(mined)) return { kind: 'ours', hash: mined.hash }
        if (!final || (await chain.agreedNonce(signer.address)) <= nonce) return undefined
        return external(mined)
      } finally {
        checking = false
      }
    },
  }
}
