import type { Chain } from '../../chains/port.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { HeldNonces, LedgerNonces } from '../../lanes/ledger/held-nonces.ts'
import type { Withdraw } from '../../lanes/ledger/withdrawals.ts'
import type { EndConfirmation, KeylessSteps, LaneNonce } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, type StepDeps } from '../deps.ts'
import { createConfirm } from './confirm.ts'

export interface ConfirmEndDeps extends StepDeps {
  readonly heldNonces: HeldNonces
  readonly withdraw: Withdraw
}

/**
 * Before a transfer ends undelivered: every nonce that any round or run of it held, as far as it and the ledgers know, must be final by the word of most
 * nodes. Then it is looked, by the same head, whether the finalized state shows the effect. In one step, since two processes may know different heads.
 */
export function createConfirmEnd(deps: ConfirmEndDeps): KeylessSteps['confirmEnd'] {
  const confirm = createConfirm(deps)
  return async ({ transfer, intentId, nonces }) => {
    const held = await findHeld(deps, transfer, workflowOf(intentId), nonces)
    if (!held) return unsettled(chainOf(deps, transfer))
    const { open } = held
    await held.withdraw()
    const effect = await confirm({ transfer, waitMs: 0, requireAgreement: true })
    if (effect.kind === 'delivered' || (effect.kind === 'unsettled' && open.length === 0)) return effect
    return open.length > 0 ? { kind: 'held', nonces: open } : { kind: 'free' }
  }
}

/** What a workflow still holds. */
export interface Held {
  /** Not final by the word of most nodes, one per lane. */
  readonly open: LaneNonce[]
  /** Asks the lanes to fill those that they do not fill yet. */
  withdraw(): Promise<void>
}

/** The nonces of a workflow that may still be mined; undefined while the nodes do not agree. @param left what the transfer knows to have held */
export async function findHeld(
  deps: ConfirmEndDeps,
  transfer: Transfer,
  workflowId: string,
  left: readonly LaneNonce[],
): Promise<Held | undefined> {
  const words = await deps.heldNonces(
    workflowId,
    left.map(({ lane }) => lane),
  )
  const open = await openNonces(chainOf(deps, transfer), left, words)
  if (open === undefined) return undefined
  return {
    open,
    async withdraw() {
      for (const { lane, owners } of words) for (const owner of owners) await deps.withdraw({ lane, intentId: owner, how: 'cancel' })
    },
  }
}

function unsettled({ blockTimeMs }: Chain): EndConfirmation {
  return { kind: 'unsettled', finalInMs: blockTimeMs }
}

/** Those that most nodes do not show as final, one per lane; undefined while the nodes do not agree. */
async function openNonces(chain: Chain, left: readonly LaneNonce[], words: readonly LedgerNonces[]): Promise<LaneNonce[] | undefined> {
  try {
    const open = await Promise.all(words.map((word) => openNonce(chain, left, word)))
    return open.flatMap((one) => one ?? [])
  } catch (error) {
    if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

async function openNonce(chain: Chain, left: readonly LaneNonce[], word: LedgerNonces): Promise<LaneNonce | undefined> {
  const { lane, nonces, finalized, knowsAll } = word
  const wasThere = left.filter((one) => one.lane === lane)
  const known = [...nonces, ...wasThere.flatMap(({ nonce }) => nonce ?? [])]
  if (known.length === 0 && wasThere.length === 0 && knowsAll) return undefined
  const address = laneAddress(lane)
  const agreed = await chain.agreedNonce(address)
  const highest = Math.max(-1, ...known)
  if (highest >= agreed) return { lane, nonce: highest }
  // The ledger forgets what is final for one process: most nodes must show the same.
  if (wasThere.length > 0 && finalized > agreed) return { lane, nonce: finalized - 1 }
  const isTold = wasThere.some(({ nonce }) => nonce !== undefined)
  // What an earlier ledger granted is in no pool and in no block that is not final. Also where the transfer knows of nothing there: a wipe took its memory too.
  if (!isTold && !knowsAll && (await chain.pendingNonce(address)) > agreed) return { lane }
  return undefined
}
