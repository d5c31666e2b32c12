import type { Bridges, Endpoint } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import { RelayerError } from '../domain/errors.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { ChainName, Transfer } from '../domain/transfer/transfer.ts'
import type { HaltRoute } from '../intake/halt-route.ts'
import type { LaneStatusCache } from '../lanes/lane-status-cache.ts'
import type { ClosedGates } from '../bridges/gates/closed-gates.ts'

/** Dependencies of the keyless steps. */
export interface StepDeps {
  readonly bridges: Bridges
  readonly chains: ReadonlyMap<ChainName, Chain>
  readonly lanes: ReadonlyMap<ChainName, LaneStatusCache>
  /** The settings that operators change while everything runs, as this process last read them. */
  readonly settings: () => Settings
  /** Limits of fees, as they are now. */
  readonly fees: FeePolicyResolver
  /** A transfer that holds a nonce stays this long, ms, with a lane that is forbidden or unserved. */
  readonly abandonAfterMs: number
  /** Keeps the gates of bridges for those who wait; absent: each looks for itself. */
  readonly gates?: ClosedGates
  /** Absent: what contradicts itself only parks its transfer. */
  readonly haltRoute?: HaltRoute
}

/** A transfer's bridge as it stands on its target chain. Throws TARGET_CHAIN_UNSUPPORTED. */
export function endpointOf(deps: Pick<StepDeps, 'bridges'>, transfer: Transfer): Endpoint {
  const bridge = deps.bridges.get(transfer.bridge)
  if (!bridge) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { bridge: transfer.bridge, chain: transfer.targetChain } })
  return bridge.endpoint(transfer.targetChain)
}

/** Throws TARGET_CHAIN_UNSUPPORTED. */
export function chainOf(deps: Pick<StepDeps, 'chains'>, transfer: Transfer): Chain {
  const chain = deps.chains.get(transfer.targetChain)
  if (!chain) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain: transfer.targetChain } })
  return chain
}

/** Throws TARGET_CHAIN_UNSUPPORTED. */
export function lanesOf(deps: Pick<StepDeps, 'lanes'>, transfer: Transfer): LaneStatusCache {
  const lanes = deps.lanes.get(transfer.targetChain)
  if (!lanes) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain: transfer.targetChain } })
  return lanes
}
