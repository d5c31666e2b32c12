import type { LaneConfig, LaneState } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse } from '../../domain/lane/messages.ts'
import type { Order } from '../../domain/order.ts'
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'

/** Input of the workflow `lane`. */
export interface LaneInput {
  config: LaneConfig
  /** Carried from run to run. */
  state?: LaneState
  /** Continue as new after this many updates; for tests. */
  updatesPerRun?: number
}

/** The one update: observation and requests in, grants, refusals and orders out. Idempotent by request id. */
export const applyUpdate = defineUpdate<ApplyResponse, [ApplyRequest]>('apply')

/** Who orders it, and why. A signal that a hand has typed may lack it: it is kept as `unnamed`. */
type Named = { order: Order }

/** The modes as signals: they are kept while no worker serves the ledger, and Temporal's batch tools can send them. */
export const pauseSignal = defineSignal<[Named?]>('pause')
export const resumeSignal = defineSignal<[Named?]>('resume')
export const drainSignal = defineSignal<[Named?]>('drain')
export const forbidSignal = defineSignal<[Named?]>('forbid')
export const activateSignal = defineSignal<[Named?]>('activate')
export const setWindowSignal = defineSignal<[{ window: number } & Partial<Named>]>('setWindow')
export const resyncSignal = defineSignal<[Named?]>('resync')
export const laneStatusQuery = defineQuery<LaneState>('status')
