import type { ClosedGates } from '../bridges/gates/gate-watcher.ts'
import type { Bridges, Endpoint } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import type { FeePolicyResolver } from '../domain/fees/fees.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Losses } from './checks/losses.ts'
import type { Shadow } from './checks/shadow.ts'
import type { BeatingStep } from './run-step.ts'
import { type ChainName, ofChain, type ParkLimits, type Transfer } from '../domain/transfer/transfer.ts'
import type { LaneId } from '../domain/lane/lane.ts'
import type { HaltRoute } from '../intake/submit/halt-route.ts'
import type { LaneStatusCache, OpenLaneWatcher } from '../lanes/ledger/open-lanes.ts'
import type { StepSlots } from '../lanes/step-slots.ts'
import type { StepTimes } from '../observability/step-times.ts'
import type { BroadcastInput, BroadcastResult, Ready } from '../temporal/contracts/transfer-steps.ts'

export interface LocalLane {
  readonly slots: StepSlots
  readonly broadcast: BeatingStep<BroadcastInput, BroadcastResult>
}

export type LocalLanes = ReadonlyMap<LaneId, LocalLane>

export interface StepDeps {
  readonly bridges: Bridges
  readonly chains: ReadonlyMap<ChainName, Chain>
  readonly lanes: ReadonlyMap<ChainName, LaneStatusCache>
  readonly settings: () => Settings
  readonly fees: FeePolicyResolver
  /** ms for which a transfer leaves its nonce with a lane that is forbidden or unserved. */
  readonly abandonAfterMs: number
  readonly parkAfter?: ParkLimits | undefined
  readonly shadow?: Shadow | undefined
  /** Wakes transfers that wait for a gate. Absent: each transfer checks its gate by itself. */
  readonly gates?: ClosedGates
  readonly openLanes?: Pick<OpenLaneWatcher, 'watchFor'>
  readonly losses?: Losses
  readonly localLanes?: LocalLanes
  readonly stepTimes?: StepTimes
  /** Halts a route whose contracts contradict each other. Absent: only the transfer is parked. */
  readonly haltRoute?: HaltRoute
}

/** The call of a round: its stage, if the delivery takes several calls, and the plan of a plug-in package. */
export interface RoundCall {
  readonly stage?: string | undefined
  readonly plan?: Ready['plan'] | undefined
}

/** A transfer's bridge on its target, with call and effect of the stage, if any. Throws TARGET_CHAIN_UNSUPPORTED. */
export function endpointOf({ bridges }: Pick<StepDeps, 'bridges'>, transfer: Transfer, { stage, plan }: RoundCall = {}): Endpoint {
  const { bridge, targetChain: chain } = transfer
  const own = ofChain(bridges.get(bridge)?.endpoints, { bridge, chain })
  const endpoint = (plan && own.planned?.(plan)) ?? own
  const { stages } = endpoint
  if (!stages || stage === undefined) return endpoint
  return {
    ...endpoint,
    delivery: (one) => endpoint.delivery(one, stage),
    delivered: (one, at) => stages.passed(one, stage, at),
    findDelivery: async () => undefined,
  }
}

export function chainOf({ chains }: Pick<StepDeps, 'chains'>, { targetChain: chain }: Transfer): Chain {
  return ofChain(chains, { chain })
}

export function lanesOf({ lanes }: Pick<StepDeps, 'lanes'>, { targetChain: chain }: Pick<Transfer, 'targetChain'>): LaneStatusCache {
  return ofChain(lanes, { chain })
}
