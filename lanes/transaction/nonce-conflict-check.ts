import type { Account, MinedTransaction } from '../../chains/port.ts'
import type { LaneDeps } from '../deps.ts'
import type { Attempts } from './attempts.ts'

/** Checks begin this many blocks after the nonce was used, so that the receipt of an own attempt is found first. */
const graceBlocks = 2
const everyBlocks = 5

/** `ours`: our attempt, under an unknown hash. `external`: another transaction, without `hash` if no node shows it. */
type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

export type NonceConflictCheck = ReturnType<typeof createNonceConflictCheck>

/**
 * A transaction is external once most nodes count the nonce as used at finality, and its block is final.
 * If two checks find no transaction (pruned), it counts as external, although Portage may have sent it.
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
    /** Call at each block after the nonce was used. Undefined: the user is not known yet. Throws read errors. */
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
