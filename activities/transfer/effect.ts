import type { Endpoint } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { toRelayerError } from '../../domain/errors.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf, endpointOf, lanesOf } from '../deps.ts'
import { nextBlock } from './next-block.ts'

/** Longest wait for the block after which the others are asked once more, ms: below the heartbeat time-out of who asks. */
const longestBlockMs = 4_000

/**
 * Does the finalized state show the effect, so that nothing takes it back (DESIGN §2.5)? For who has a receipt of a canonical block past
 * finality already: that was one look; the effect itself is another, at a later time and of other data. Where one node is all there is, the
 * two are the looks that a verdict needs; several must agree. One call per node that is asked. Undefined while they do not agree.
 */
export function effectBeside(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean | undefined> {
  return alone(chain) ? endpoint.delivered(transfer, 'finalized') : agreed(endpoint, transfer)
}

/**
 * Who delivered, once one node's finalized state shows the effect; undefined while that is not certain. With one node its log, in a block past
 * finality, is the other look; without that log, and with several nodes, they must agree. A node that has pruned its logs leaves open who it was.
 */
export async function finalDelivery(deps: StepDeps, transfer: Transfer): Promise<Delivery | undefined> {
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer)
  const found = await endpoint.findDelivery(transfer)
  const witnessed = alone(chain) && found !== undefined && found.blockHeight <= (chain.heads.current?.finalized ?? -1)
  if (!witnessed && (await agreed(endpoint, transfer)) !== true) return undefined
  if (!found) return { ours: false }
  return { ...found, ours: isOurs(deps, transfer, found.by) }
}

/** One node sees the effect nowhere. May that be taken as a verdict? Several nodes must agree; one has been asked of two states. */
export async function absent(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return alone(chain) || (await agreed(endpoint, transfer)) === false
}

/**
 * One node's latest state shows the effect. Do most of them deny it, in theirs? To be asked when that node has had its time: an honest one may be a
 * block ahead. Where it is the only one there is nobody else to ask.
 */
export async function denied(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return !alone(chain) && (await agreed(endpoint, transfer, 'agreed-latest')) === false
}

/**
 * Is the effect there, for who is about to sign? What one node shows is held against the others: on the word of one that lies, a transfer would be sent
 * back here again and again. An honest one may be a block ahead, so that they are asked once more after the next: who signs for what is there already
 * pays for a call that reverts. No read more where it is not there. Throws what reads throw.
 */
export async function effectNow(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  if (!(await endpoint.delivered(transfer, 'latest'))) return false
  if (!(await denied(chain, endpoint, transfer))) return true
  await nextBlock(chain, longestBlockMs)
  return !(await denied(chain, endpoint, transfer))
}

/** Is it the address of a lane of the transfer's target chain? */
export function isOurs(deps: StepDeps, transfer: Transfer, address: string): boolean {
  return lanesOf(deps, transfer).lanes.some((lane) => laneAddress(lane) === address)
}

async function agreed(endpoint: Endpoint, transfer: Transfer, at: 'agreed' | 'agreed-latest' = 'agreed'): Promise<boolean | undefined> {
  try {
    return await endpoint.delivered(transfer, at)
  } catch (error) {
    if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

/** Is there only one node that reads? */
function alone(chain: Chain): boolean {
  return chain.nodes().filter(({ use, state }) => (use === 'all' || use === 'read') && state !== 'disabled').length === 1
}
