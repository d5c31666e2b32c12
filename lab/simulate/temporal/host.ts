import type { ServiceError } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import type { RunInfo, WorkflowFunction } from './machine.ts'

/** A process of Portage, as the server sees it. */
export interface Worker {
  readonly name: string
  readonly alive: boolean
  polls(queue: string, kind: 'workflow' | 'activity'): boolean
  stepOf(queue: string, type: string): (input: unknown) => Promise<unknown>
}

/** A message on its way that may be lost: a request, its answer, or the result of an activity. */
export type Losable = 'request' | 'answer' | 'report'

/** The server, as far as a run and its activities use it. */
export interface Host {
  readonly isDown: boolean
  /** Names of local activities. */
  readonly localSteps: Set<string>
  /** Time that a message takes, ms. */
  travelMs(): number
  loses(what: Losable): boolean
  workflowOf(type: string): WorkflowFunction
  /** A living process that polls the queue. */
  pollerOf(queue: string, kind: 'workflow' | 'activity', preferred?: Worker): Worker | undefined
  begin(info: RunInfo): unknown
  /** A run has ended with this result (JSON). */
  ended(info: RunInfo, result: string): void
  /** False if no run takes signals. */
  signal(workflowId: string, signalName: string, input: readonly Payload[]): boolean
  /** A line of the trace. Absent if nobody reads it. */
  readonly log: ((line: string) => void) | undefined
  taskFailed(info: RunInfo, error: unknown): void
  unavailable(): ServiceError
  /** The error of a caller whose update was not answered before the run closed. */
  closing(workflowId: string): Error
}

/** Interval at which work looks for a process if none polls its queue, ms. */
export const pollMs = 400

/** Nothing of a dead process goes on. */
export const never = new Promise<never>(() => {})
