import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { RunId } from '../../temporal/client/runs.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { agreed, nextBlock } from '../transfer/delivery-checks.ts'
import type { StoredTransfer } from './stored-transfers.ts'

/** The second look waits this many block times for a block, and at least 10 s. */
const blocksToWait = 5
const leastWaitMs = 10_000

type Deps = Pick<StepDeps, 'bridges' | 'chains'>

/**
 * Asks the target chain for the effects of all these transfers in one batch. A missing one is looked at again a block later, in the finalized state
 * of more than half of the nodes: if it is not there either, a reorg deeper than finality undid it. Throws what reads throw.
 * @param delivered transfers to one chain
 * @returns `unsure`: how many for which the nodes do not agree, or no block came for a second look. `gone`: runs whose effect is gone
 */
export async function checkEffects(deps: Deps, delivered: readonly StoredTransfer[]): Promise<{ unsure: number; gone: RunId[] }> {
  const there = await Promise.all(delivered.map(({ transfer }) => endpointOf(deps, transfer).delivered(transfer, 'latest')))
  const missing = delivered.filter((_, index) => !there[index])
  const [first] = missing
  if (!first) return { unsure: 0, gone: [] }
  const chain = chainOf(deps, first.transfer)
  const blockCame = await nextBlock(chain, Math.max(leastWaitMs, blocksToWait * chain.blockTimeMs))
  if (!blockCame) return { unsure: missing.length, gone: [] }
  const looks = await Promise.all(missing.map(async ({ run, transfer }) => ({ run, shows: await lookAgain(deps, transfer) })))
  return {
    unsure: looks.filter(({ shows }) => shows === undefined).length,
    gone: looks.filter(({ shows }) => shows === false).map(({ run }) => run),
  }
}

/** Undefined while the nodes do not agree. */
async function lookAgain(deps: Deps, transfer: Transfer): Promise<boolean | undefined> {
  const endpoint = endpointOf(deps, transfer)
  const [latest, final] = await Promise.all([endpoint.delivered(transfer, 'latest'), agreed(endpoint, transfer)])
  return final === undefined ? undefined : latest || final
}
