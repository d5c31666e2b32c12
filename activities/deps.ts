import type { ClosedGates } from '../bridges/gates/gate-watcher.ts'
import type { Bridges, Endpoint, PlannedDelivery } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import type { FeePolicyResolver } from '../domain/fees/fees.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Losses } from './checks/losses.ts'
import type { Shadow } from './checks/shadow.ts'
import type { BeatingStep } from './run-step.ts'
import type { ChainName, ParkLimits, Transfer } from '../domain/transfer/transfer.ts'
import type { Intent, LaneId } from '../domain/lane/lane.ts'
import type { HaltRoute } from '../intake/submit/halt-route.ts'
import type { LaneStatusCache, OpenLaneWatcher } from '../lanes/ledger/open-lanes.ts'
import type { StepSlots } from '../lanes/step-slots.ts'
import type { StepTimes } from '../observability/step-times.ts'
import type { BroadcastInput, BroadcastResult, Ready } from '../temporal/contracts/transfer-steps.ts'

/** The call that this process made at the admission, kept so that the local broadcast need not ask the bridge again. */
export interface AdmittedCall extends Pick<PlannedDelivery, 'parties'>, Pick<Transfer, 'message'>, Pick<Ready, 'callHash'> {
  readonly endpoint: Endpoint
  readonly intent: Intent
  /** See `Admitted.isWrapped`. */
  readonly isWrapped: boolean
}

export interface LocalLane {
  readonly slots: StepSlots<AdmittedCall>
  readonly broadcast: (
    ...step: [...Parameters<BeatingStep<BroadcastInput, BroadcastResult>>, admitted?: AdmittedCall]
  ) => Promise<BroadcastResult>
}

export type LocalLanes = ReadonlyMap<LaneId, LocalLane>

export interface StepDeps {
  readonly bridges: Bridges
  readonly chains: ReadonlyMap<ChainName, Chain>
  readonly lanes: ReadonlyMap<ChainName, LaneStatusCache>
  readonly settings: () => Settings
  /** `routesDigest` of this process's config. */
  readonly routes?: string
  readonly fees: FeePolicyResolver
  /**
   * Time (ms) for which a transfer with a nonce waits for a lane that is forbidden, has no worker, or has a replaced
   * chain. After this time, the transfer goes to another lane.
   */
  readonly abandonAfterMs: number
  readonly parkAfter?: ParkLimits | undefined
  readonly shadow?: Shadow | undefined
  /** Wakes transfers that wait for a gate. Absent: each transfer only polls its own gate. */
  readonly gates?: ClosedGates
  readonly openLanes?: Pick<OpenLaneWatcher, 'watchFor'>
  readonly losses?: Losses
  readonly localLanes?: LocalLanes
  readonly stepTimes?: StepTimes
  /** Halts a route whose contracts contradict each other. Absent: only the transfer is parked. */
  readonly haltRoute?: HaltRoute
}

/** Identifies a round's call: by its stage, if a delivery takes several calls, and by the plan of a plug-in package. */
export interface RoundCall {
  readonly stage?: string | undefined
  readonly plan?: Ready['plan'] | undefined
}
