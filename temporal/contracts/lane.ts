import type { LaneConfig, LaneState } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse } from '../../domain/lane/messages.ts'
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
export const pauseSignal = defineSignal<[{ reason: string }]>('pause')
export const resumeSignal = defineSignal('resume')
export const drainSignal = defineSignal<[{ reason: string }]>('drain')
export const forbidSignal = defineSignal<[{ reason: string }]>('forbid')
export const activateSignal = defineSignal('activate')
export const setWindowSignal = defineSignal<[{ window: number }]>('setWindow')
export const resyncSignal = defineSignal('resync')
export const laneStatusQuery = defineQuery<LaneState>('status')
