import type { Endpoint } from '../../bridges/port.ts'
import { untilHead, votersOf } from '../../chains/heads.ts'
import type { Chain, Receipt } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import type { RoundCall, StepDeps } from '../deps.ts'
import { chainOf, endpointOf, lanesOf, sourceOf } from '../route.ts'

/** Maximum wait for another block, ms, below the heartbeat time-out of the steps that wait. */
const longestBlockMs = 4_000

/** Whether the finalized state shows the transfer's effect. Undefined while the nodes of the chain disagree. */
export function isFinal(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean | undefined> {
  return hasOneNode(chain) ? endpoint.delivered(transfer, 'finalized') : agreed(endpoint, transfer)
}

/** The final delivery, without `by` if no log was found. Undefined until most nodes agree that the effect is final. */
export async function finalDelivery(deps: StepDeps, transfer: Transfer, call?: RoundCall): Promise<Delivery | undefined> {
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer, call)
  const found = await endpoint.findDelivery(transfer)
  const witnessed = hasOneNode(chain) && found !== undefined && found.blockHeight <= (chain.heads.current?.finalized ?? -1)
  if (!witnessed && (await agreed(endpoint, transfer)) !== true) return undefined
  return found ? { ...found, ours: isOurs(deps, transfer, found.by) } : { ours: false }
}

/**
 * Whether most nodes agree that the effect is absent. If the chain has only one node, this node must deny the effect
 * twice, a block apart.
 */
export async function isAbsent(endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return (await agreed(endpoint, transfer)) === false
}

/** Whether most nodes deny an effect that one node's latest state shows. Always false with one node. */
export async function isDenied(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  return !hasOneNode(chain) && (await agreed(endpoint, transfer, 'agreed-latest')) === false
}

/** Whether the latest state shows the effect. If most nodes deny it, they are asked again a block later. */
export async function isDelivered(chain: Chain, endpoint: Endpoint, transfer: Transfer): Promise<boolean> {
  if (!(await endpoint.delivered(transfer, 'latest'))) return false
  if (!(await isDenied(chain, endpoint, transfer))) return true
  await nextBlock(chain, longestBlockMs)
  return !(await isDenied(chain, endpoint, transfer))
}

/**
 * Whether a node shows the effect. With `disputed`, also false if most nodes deny the effect. If most nodes show a
 * state that no honest contract can have, halts the route and throws. Also throws NODES_DISAGREE and read errors.
 */
export async function showsEffect(deps: Pick<StepDeps, 'bridges' | 'chains' | 'haltRoute'>, transfer: Transfer, disputed = false) {
  const endpoint = endpointOf(deps, transfer)
  const { bridge, targetChain, sequence } = transfer
  try {
    const shown = await endpoint.delivered(transfer, 'latest')
    return shown && !(disputed && (await isDenied(chainOf(deps, transfer), endpoint, transfer)))
  } catch (error) {
    const { code, message, haltRoute } = toRelayerError(error)
    if (!haltRoute) throw error
    const found = await endpoint.delivered(transfer, 'agreed').then(() => undefined, toRelayerError)
    if (found && found.code !== code) throw found
    if (!found) throw new RelayerError('NODES_DISAGREE', { detail: message, facts: { chain: targetChain } })
    await deps.haltRoute?.({ bridge, sourceChain: sourceOf(deps, transfer), targetChain, code, detail: `transfer ${sequence}: ${message}` })
    throw error
  }
}

export function isOurs(deps: StepDeps, transfer: Transfer, address: string): boolean {
  return lanesOf(deps, transfer).lanes.some((lane) => laneAddress(lane) === address)
}

export function nextBlock({ heads }: Pick<Chain, 'heads'>, mostMs: number): Promise<boolean> {
  const before = heads.current?.latest.hash
  return untilHead(heads, ({ latest }) => latest.hash !== before, mostMs)
}

export function agreed(endpoint: Endpoint, transfer: Transfer, at: 'agreed' | 'agreed-latest' = 'agreed') {
  return unlessDisputed(endpoint.delivered(transfer, at))
}

export async function unlessDisputed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

export function hasOneNode(chain: Pick<Chain, 'nodes'>): boolean {
  return votersOf(chain.nodes()).length === 1
}

export function whyUseless({ hash, status }: Receipt): string {
  return `transaction ${hash} ${status === 'reverted' ? 'reverted' : 'did not have the effect'}`
}

/** The delivery if its effect is final. Otherwise the time until the effect may be final. */
export async function settled(deps: StepDeps, transfer: Transfer): Promise<Extract<Stopped, { kind: 'delivered' | 'unsettled' }>> {
  const chain = chainOf(deps, transfer)
  const finalized = await endpointOf(deps, transfer).delivered(transfer, 'finalized')
  const delivery = finalized ? await finalDelivery(deps, transfer) : undefined
  return delivery ? { kind: 'delivered', delivery } : unsettled(chain)
}

export function unsettled(chain: Chain, height = chain.heads.current?.latest.height ?? 0) {
  return { kind: 'unsettled', finalInMs: Math.max(chain.blockTimeMs, chain.msToFinality(height)) } as const
}
