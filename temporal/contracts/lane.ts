import type { LaneConfig, LaneState } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse } from '../../domain/lane/messages.ts'
import type { Order } from '../../domain/order.ts'
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'

export interface LaneInput {
  config: LaneConfig
  state?: LaneState
  updatesPerRun?: number
}

/** Each request id is applied only once. */
export const applyUpdate = defineUpdate<ApplyResponse, [ApplyRequest]>('apply')

/** Without an order, a signal's author is `unnamed`. */
type Named = { order: Order }

/** Temporal keeps signals while no worker serves the ledger. */
export const pauseSignal = defineSignal<[Named?]>('pause')
export const resumeSignal = defineSignal<[Named?]>('resume')
export const drainSignal = defineSignal<[Named?]>('drain')
export const forbidSignal = defineSignal<[Named?]>('forbid')
export const activateSignal = defineSignal<[Named?]>('activate')
export const setWindowSignal = defineSignal<[{ window: number } & Partial<Named>]>('setWindow')
export const resyncSignal = defineSignal<[Named?]>('resync')
export type LaneMode = 'pause' | 'resume' | 'drain' | 'forbid' | 'activate'
export const laneStatusQuery = defineQuery<LaneState>('status')
