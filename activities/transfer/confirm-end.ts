import type { Chain } from '../../chains/port.ts'
import { type LaneId, laneAddress, workflowOf } from '../../domain/lane/lane.ts'
import { waitsForNonces } from '../../domain/transfer/attempts.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { type HeldNonces, type LedgerNonces, poolMs, type Withdraw } from '../../lanes/ledger/keyless-requests.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { KeylessSteps, LaneNonce, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { hasOneNode, unlessDisputed } from '../checks/effect.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf } from '../route.ts'
import { createConfirm } from './confirm.ts'

export interface EndDeps extends StepDeps {
  readonly heldNonces: HeldNonces
  /** Like `heldNonces`, but all refused messages share its reads of ledgers. */
  readonly sharedHeldNonces: HeldNonces
  readonly withdraw: Withdraw
  readonly requestReport: (lane: LaneId, reason: string) => Promise<void>
}

/** Whether a transfer may end undelivered: most nodes must show its nonces as final, and no effect. */
export function createConfirmEnd(deps: EndDeps): KeylessSteps['confirmEnd'] {
  return async ({ transfer, intentId, nonces, cancelledAt: orderedAt = 0 }) => {
    const cancelledAt = Date.now() - orderedAt > poolMs ? 0 : orderedAt
    const lanes = nonces.map(({ lane }) => lane)
    const held = await deps.heldNonces(workflowOf(intentId), lanes)
    const ledgers = held.map((ledger) => ({ ...ledger, isUnreported: (ledger.reportedAt ?? Infinity) < cancelledAt }))
    const open = await openNonces(chainOf(deps, transfer), nonces, ledgers)
    if (!open) return { kind: 'unsettled', finalInMs: chainOf(deps, transfer).blockTimeMs }
    for (const { lane, isNew, isUnreported } of ledgers) {
      const isAwaited = isUnreported && open.some((one) => one.lane === lane && one.nonce === undefined)
      // The ledger is new until its next report, which was then requested before.
      if (isAwaited && !isNew) await deps.requestReport(lane, 'a transfer was cancelled')
    }
    const effect = await withdrawAndConfirm(deps, transfer, ledgers, true)
    if (effect.kind === 'delivered' || (effect.kind === 'unsettled' && open.length === 0)) return effect
    return open.length > 0 ? { kind: 'held', nonces: open } : { kind: 'free' }
  }
}

type Rejection = Extract<Stopped, { kind: 'rejected' | 'declined' }>
export type Refuse = (transfer: Transfer, refusal: Rejection) => Promise<Stopped>

/**
 * Refuses a transfer only when none of its nonces can be mined, because a run that Temporal has forgotten may have sent
 * a call. For a rejected message, does not look for an effect, because strangers choose the fields of such a message.
 */
export function createRefuse(deps: EndDeps): Refuse {
  return async (transfer, refusal) => {
    if (refusal.awaitNewSignatures) return refusal
    const chain = chainOf(deps, transfer)
    const wait = (reason: string): Stopped => {
      const about = { code: 'NONCE_NOT_FINAL', reason, retryInMs: chain.blockTimeMs } as const
      return { kind: 'waiting', ...about, ...(refusal.kind === 'rejected' && { unverified: true }) }
    }
    const what = `${refusal.kind} (${refusal.reason})`
    const ledgers = await deps.sharedHeldNonces(transferId(transfer))
    const open = await openNonces(chain, [], ledgers)
    if (!open) return wait(`${what} once the nodes agree on the final nonces of its lanes`)
    if (refusal.kind === 'declined') {
      // A chain's only node is not asked to agree: it would have to answer twice, a block apart, and meanwhile
      // strangers could fill all admissions.
      const effect = await withdrawAndConfirm(deps, transfer, ledgers, !hasOneNode(chain))
      if (effect.kind === 'delivered') return effect
      if (effect.kind === 'unsettled' && open.length === 0)
        return wait(`${what}, unless it is delivered: a delivery is not final yet, or the nodes do not agree`)
    }
    return open.length > 0 ? wait(waitsForNonces(what, open)) : refusal
  }
}

async function withdrawAndConfirm(deps: EndDeps, transfer: Transfer, ledgers: readonly LedgerNonces[], requireAgreement: boolean) {
  for (const { lane, owners } of ledgers) for (const intentId of owners) await deps.withdraw({ lane, intentId, how: 'cancel' })
  return createConfirm(deps)({ transfer, waitMs: 0, ...(requireAgreement && { requireAgreement }) })
}

/** `isUnreported`: no process has reported the account since the order that ends the transfer. */
interface Ledger extends LedgerNonces {
  readonly isUnreported?: boolean
}

async function openNonces(chain: Chain, left: readonly LaneNonce[], ledgers: readonly Ledger[]): Promise<LaneNonce[] | undefined> {
  const open = await unlessDisputed(Promise.all(ledgers.map((ledger) => openNonce(chain, left, ledger))))
  return open?.flatMap((one) => one ?? [])
}

async function openNonce(chain: Chain, left: readonly LaneNonce[], ledger: Ledger): Promise<LaneNonce | undefined> {
  const { lane, nonces, finalized, inherited = -1, isNew, knowsAll, isUnreported = false } = ledger
  const wasThere = left.filter((one) => one.lane === lane)
  const known = [...nonces, ...wasThere.flatMap(({ nonce }) => nonce ?? [])]
  if (known.length === 0 && wasThere.length === 0 && knowsAll && !isUnreported) return undefined
  const address = laneAddress(lane)
  const agreed = await chain.agreedNonce(address)
  const highest = Math.max(-1, ...known)
  if (highest >= agreed) return { lane, nonce: highest }
  // The ledger forgets a nonce as soon as one process has seen it as final. But here, most nodes must show it as final.
  if (wasThere.length > 0 && finalized > agreed) return { lane, nonce: finalized - 1 }
  const isKnown = wasThere.some(({ nonce }) => nonce !== undefined)
  // After a restore, the ledger and the transfer may lack nonces that a pool still has. Only a report adds them: nodes
  // do not count a nonce as pending while their pool lacks an earlier one.
  if (isUnreported && agreed > 0) return { lane }
  if (knowsAll) return undefined
  // After a wipe, any nonce of an earlier ledger may be the transfer's, so all nonces of the account must be final.
  if (inherited >= agreed) return { lane, nonce: inherited }
  if (isKnown) return undefined
  if ((wasThere.length > 0 && isNew) || (await chain.pendingNonce(address)) > agreed) return { lane }
  return undefined
}
