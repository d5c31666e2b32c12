import type { Bridges, Endpoint } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Losses } from './transfer/losses.ts'
import type { ChainName, Transfer } from '../domain/transfer/transfer.ts'
import type { HaltRoute } from '../intake/submit/halt-route.ts'
import type { LaneWaiters } from '../lanes/ledger/lane-waiters.ts'
import type { LaneStatusCache } from '../lanes/ledger/lane-status-cache.ts'
import type { LossReports } from './transfer/loss-reports.ts'
import type { ClosedGates } from '../bridges/gates/gate-watcher.ts'
import type { StepTimes } from '../observability/step-times.ts'
import type { NearLanes } from './near-at-hand.ts'

/** Dependencies of the keyless steps. */
export interface StepDeps {
  readonly bridges: Bridges
  readonly chains: ReadonlyMap<ChainName, Chain>
  readonly lanes: ReadonlyMap<ChainName, LaneStatusCache>
  /** As this process last read them. */
  readonly settings: () => Settings
  /** Limits of fees, as they are now. */
  readonly fees: FeePolicyResolver
  /** A transfer that holds a nonce stays this long, ms, with a lane that is forbidden or unserved. */
  readonly abandonAfterMs: number
  /** Keeps the gates of bridges for those who wait; absent: each looks for itself. */
  readonly gates?: ClosedGates
  /** Wakes those who wait for a lane; absent: each looks for itself. */
  readonly laneWaiters?: Pick<LaneWaiters, 'add'>
  /** Of this process; absent: nothing is set aside. */
  readonly losses?: Losses
  /** Absent: nobody is told. */
  readonly lossReports?: LossReports
  /** The lanes whose keys this process holds; absent: none. */
  readonly near?: NearLanes
  /** Absent: the times of steps are not shown. */
  readonly stepTimes?: StepTimes
  /** Absent: what contradicts itself only parks its transfer. */
  readonly haltRoute?: HaltRoute
}

/** A transfer's bridge as it stands on its target chain. Throws TARGET_CHAIN_UNSUPPORTED. */
export function endpointOf({ bridges }: Pick<StepDeps, 'bridges'>, { bridge, targetChain: chain }: Transfer): Endpoint {
  return supported(bridges.get(bridge), { bridge, chain }).endpoint(chain)
}

/** Throws TARGET_CHAIN_UNSUPPORTED. */
export function chainOf({ chains }: Pick<StepDeps, 'chains'>, { targetChain: chain }: Transfer): Chain {
  return supported(chains.get(chain), { chain })
}

/** Throws TARGET_CHAIN_UNSUPPORTED. */
export function lanesOf<T>(
  { lanes }: { readonly lanes: ReadonlyMap<ChainName, T> },
  { targetChain: chain }: Pick<Transfer, 'targetChain'>,
): T {
  return supported(lanes.get(chain), { chain })
}

function supported<T>(found: T | undefined, facts: Readonly<Record<string, string>>): T {
  if (found === undefined) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts })
  return found
}
