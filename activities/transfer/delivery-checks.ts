import type { Endpoint } from '../../bridges/port.ts'
import { untilHead, votersOf } from '../../chains/heads.ts'
import type { Chain } from '../../chains/port.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import { chainOf, endpointOf, lanesOf, type StepDeps } from '../deps.ts'

/** Longest wait for the block after which the other nodes are asked once more, ms: less than the heartbeat time-out of the steps that ask. */
const longestBlockMs = 4_000

/**
 * Does the finalized state show the effect? The caller has a receipt in a canonical block past finality, which is the first of the two looks that an
 * irreversible verdict needs with a single node; several nodes must agree. Undefined while they do not.
 */
export function isFinal(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean | undefined> {
  return hasOneNode(chain) ? endpoint.delivered(transfer, 'finalized') : agreed(endpoint, transfer)
}

/**
 * Who delivered, once the finalized state of one node shows the effect; undefined while that is not certain. With a single node its log, in a block
 * past finality, is the second look; else the nodes must agree. A node that has pruned its logs leaves open who it was.
 */
export async function finalDelivery(deps: StepDeps, transfer: Transfer): Promise<Delivery | undefined> {
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer)
  const found = await endpoint.findDelivery(transfer)
  const witnessed = hasOneNode(chain) && found !== undefined && found.blockHeight <= (chain.heads.current?.finalized ?? -1)
  if (!witnessed && (await agreed(endpoint, transfer)) !== true) return undefined
  return found ? { ...found, ours: isOurs(deps, transfer, found.by) } : { ours: false }
}

/** One node shows the effect nowhere. True if that is certain: several nodes must agree; a single one was asked for two states. */
export async function isAbsent(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return hasOneNode(chain) || (await agreed(endpoint, transfer)) === false
}

/** The latest state of one node shows the effect. True if most nodes deny it in theirs; false where it is the only node. */
export async function isDenied(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return !hasOneNode(chain) && (await agreed(endpoint, transfer, 'agreed-latest')) === false
}

/**
 * Does the latest state show the effect? Asked right before a nonce is used. Where one node alone says yes, the others are asked a block later: it may be
 * ahead of them, or lie. Throws what reads throw.
 */
export async function isDelivered(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  if (!(await endpoint.delivered(transfer, 'latest'))) return false
  if (!(await isDenied(chain, endpoint, transfer))) return true
  await nextBlock(chain, longestBlockMs)
  return !(await isDenied(chain, endpoint, transfer))
}

/** True if it is the address of a lane of the transfer's target chain. */
export function isOurs(deps: StepDeps, transfer: Transfer, address: string): boolean {
  return lanesOf(deps, transfer).lanes.some((lane) => laneAddress(lane) === address)
}

/** Resolves true with the next block, and false if none comes within `mostMs`. */
export function nextBlock({ heads }: Pick<Chain, 'heads'>, mostMs: number): Promise<boolean> {
  const before = heads.current?.latest.hash
  return untilHead(heads, ({ latest }) => latest.hash !== before, mostMs)
}

/** The same read on the word of more than half of the nodes; undefined while they do not agree. */
export async function agreed(
  endpoint: Endpoint,
  transfer: Transfer,
  at: 'agreed' | 'agreed-latest' = 'agreed',
): Promise<boolean | undefined> {
  try {
    return await endpoint.delivered(transfer, at)
  } catch (error) {
    if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

/** True if the config has only one node that reads. */
function hasOneNode(chain: Chain): boolean {
  return votersOf(chain.nodes()).length === 1
}
