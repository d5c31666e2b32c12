import type { HeldNonces } from '../../lanes/ledger/held-nonces.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { waitsForNonces } from '../../domain/transfer/attempts.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf } from '../deps.ts'
import { createConfirm } from './confirm.ts'
import { type ConfirmEndDeps, findHeld } from './confirm-end.ts'

type Refusal = Extract<Stopped, { kind: 'rejected' | 'declined' }>

export type Refuse = (transfer: Transfer, refusal: Refusal) => Promise<Stopped>

export interface RefuseDeps extends Omit<ConfirmEndDeps, 'heldNonces'> {
  /** Every undelivered message asks, so readings of the ledgers are shared. */
  readonly sharedHeldNonces: HeldNonces
}

/**
 * An earlier, forgotten run may have sent a call: no transfer is refused while a nonce of it can be mined.
 * Nothing is read or withdrawn for an invalid message: strangers choose its fields.
 */
export function createRefuse({ sharedHeldNonces, ...rest }: RefuseDeps): Refuse {
  const deps: ConfirmEndDeps = { ...rest, heldNonces: sharedHeldNonces }
  const confirm = createConfirm(deps)
  return async (transfer, refusal) => {
    // The transfer is parked and does not end.
    if (refusal.awaitNewSignatures) return refusal
    const wait = (reason: string): Stopped => {
      const retryInMs = chainOf(deps, transfer).blockTimeMs
      return { kind: 'waiting', code: 'NONCE_NOT_FINAL', reason, retryInMs, ...(refusal.kind === 'rejected' && { unverified: true }) }
    }
    const what = `${refusal.kind} (${refusal.reason})`
    const held = await findHeld(deps, transfer, transferId(transfer), [])
    if (!held) return wait(`${what} once the nodes agree on what is final of its lanes`)
    const { open } = held
    if (refusal.kind === 'declined') {
      await held.withdraw()
      const effect = await confirm({ transfer, waitMs: 0, requireAgreement: true })
      if (effect.kind === 'delivered') return effect
      if (effect.kind === 'unsettled' && open.length === 0)
        return wait(`${what}, unless it is delivered, which is not final, or the nodes do not agree`)
    }
    return open.length > 0 ? wait(waitsForNonces(what, open)) : refusal
  }
}
