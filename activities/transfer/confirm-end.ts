import type { Chain } from '../../chains/port.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { workflowOf, laneAddress } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { HeldNonces, LedgerNonces } from '../../lanes/ledger/held-nonces.ts'
import type { Withdraw } from '../../lanes/ledger/keyless-requests.ts'
import type { KeylessSteps, LaneNonce } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, type StepDeps } from '../deps.ts'
import { createConfirm } from './confirm.ts'

export interface ConfirmEndDeps extends StepDeps {
  readonly heldNonces: HeldNonces
  readonly withdraw: Withdraw
}

/** Before an undelivered end most nodes show each nonce it held as final. Then finality is read at the same head. */
export function createConfirmEnd(deps: ConfirmEndDeps): KeylessSteps['confirmEnd'] {
  const confirm = createConfirm(deps)
  return async ({ transfer, intentId, nonces }) => {
    const held = await findHeld(deps, transfer, workflowOf(intentId), nonces)
    if (!held) return { kind: 'unsettled', finalInMs: chainOf(deps, transfer).blockTimeMs }
    const { open } = held
    await held.withdraw()
    const effect = await confirm({ transfer, waitMs: 0, requireAgreement: true })
    if (effect.kind === 'delivered' || (effect.kind === 'unsettled' && open.length === 0)) return effect
    return open.length > 0 ? { kind: 'held', nonces: open } : { kind: 'free' }
  }
}

export interface Held {
  /** Not shown as final by most nodes, one per lane. */
  readonly open: LaneNonce[]
  withdraw(): Promise<void>
}

/** Undefined while the nodes do not agree. @param left the nonces that the transfer knows it held */
export async function findHeld(
  deps: ConfirmEndDeps,
  transfer: Transfer,
  workflowId: string,
  left: readonly LaneNonce[],
): Promise<Held | undefined> {
  const ledgers = await deps.heldNonces(
    workflowId,
    left.map(({ lane }) => lane),
  )
  const withdraw = async () => {
    for (const { lane, owners } of ledgers) for (const owner of owners) await deps.withdraw({ lane, intentId: owner, how: 'cancel' })
  }
  try {
    const open = await Promise.all(ledgers.map((ledger) => openNonce(chainOf(deps, transfer), left, ledger)))
    return { open: open.flatMap((one) => one ?? []), withdraw }
  } catch (error) {
    if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

async function openNonce(chain: Chain, left: readonly LaneNonce[], ledger: LedgerNonces): Promise<LaneNonce | undefined> {
  const { lane, nonces, finalized, knowsAll } = ledger
  const wasThere = left.filter((one) => one.lane === lane)
  const known = [...nonces, ...wasThere.flatMap(({ nonce }) => nonce ?? [])]
  if (known.length === 0 && wasThere.length === 0 && knowsAll) return undefined
  const address = laneAddress(lane)
  const agreed = await chain.agreedNonce(address)
  const highest = Math.max(-1, ...known)
  if (highest >= agreed) return { lane, nonce: highest }
  // The ledger forgets a nonce that is final for one process: most nodes must show it.
  if (wasThere.length > 0 && finalized > agreed) return { lane, nonce: finalized - 1 }
  const isKnown = wasThere.some(({ nonce }) => nonce !== undefined)
  // A nonce of an earlier ledger must be in no pool and no unfinal block, even if a wipe took all memory of it.
  if (!isKnown && !knowsAll && (await chain.pendingNonce(address)) > agreed) return { lane }
  return undefined
}
