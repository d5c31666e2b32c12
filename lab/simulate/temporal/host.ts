import type { ServiceError } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import type { RunInfo, WorkflowFunction } from './machine.ts'

/** A process of Portage as the server sees it. */
export interface Worker {
  readonly name: string
  readonly alive: boolean
  polls(queue: string, kind: 'workflow' | 'activity'): boolean
  stepOf(queue: string, type: string): (input: unknown) => Promise<unknown>
}

/** Messages that may be lost: a request, its answer, or the result of an activity. */
export type Losable = 'request' | 'answer' | 'report'

/** The part of the server that runs and activities use. */
export interface Host {
  readonly isDown: boolean
  /** Names of local activities. */
  readonly localSteps: Set<string>
  /** Time that a message takes, ms. */
  travelMs(): number
  loses(what: Losable): boolean
  workflowOf(type: string): WorkflowFunction
  /** A living process that polls the queue. Undefined if none does. */
  pollerOf(queue: string, kind: 'workflow' | 'activity', preferred?: Worker): Worker | undefined
  begin(info: RunInfo): unknown
  /** Called when a run has ended, with its result as JSON. */
  ended(info: RunInfo, result: string): void
  /** Returns false if no run takes signals. */
  signal(workflowId: string, signalName: string, input: readonly Payload[]): boolean
  /** Gets a line of the trace. Absent if nobody reads the trace. */
  readonly log: ((line: string) => void) | undefined
  taskFailed(info: RunInfo, error: unknown): void
  unavailable(): ServiceError
  /** The error for a caller whose update has no answer when the run closes. */
  closing(workflowId: string): Error
}

/** If no process polls a queue, its work looks for one at this interval, ms. */
export const pollMs = 400

/** A promise that never resolves. Code of a dead process awaits it. */
export const never = new Promise<never>(() => {})
