import type { Account, MinedTransaction } from '../../chains/port.ts'
import type { LaneDeps } from '../deps.ts'
import type { Attempts } from './attempts.ts'

/** Blocks from the nonce's use to the first check. By then, Portage has the receipt of its own attempt. */
const graceBlocks = 2
const everyBlocks = 5

/**
 * `ours`: Portage's transaction, under a hash that this process did not know. `external`: a transaction from outside
 * Portage.
 */
type NonceUser = { readonly kind: 'ours'; readonly hash: string } | { readonly kind: 'external'; readonly hash: string | undefined }

/**
 * Finds the transaction that used a nonce. It is external if it is not Portage's and most nodes show the nonce as
 * final. If the nodes show no transaction because they have pruned it, two checks must come to this result.
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
    /** Called at each block after the nonce's use. Undefined while the transaction is unknown. Throws read errors. */
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
