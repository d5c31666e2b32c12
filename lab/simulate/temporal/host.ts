import type { ServiceError } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import type { RunInfo, WorkflowFunction } from './machine.ts'

export interface Worker {
  readonly name: string
  readonly alive: boolean
  polls(queue: string, kind: 'workflow' | 'activity'): boolean
  stepOf(queue: string, type: string): (input: unknown) => Promise<unknown>
}

/** Messages that can be lost: a request, its answer, or the result of an activity. */
export type Losable = 'request' | 'answer' | 'report'

export interface Host {
  readonly isDown: boolean
  readonly localSteps: Set<string>
  travelMs(): number
  loses(what: Losable): boolean
  workflowOf(type: string): WorkflowFunction
  /**
   * A living process that polls the queue: usually `preferred` if it does, otherwise any such process. Undefined if no
   * process polls the queue.
   */
  pollerOf(queue: string, kind: 'workflow' | 'activity', preferred?: Worker): Worker | undefined
  begin(info: RunInfo): unknown
  ended(info: RunInfo, result: string): void
  /** Returns false if no open run has this id. */
  signal(workflowId: string, signalName: string, input: readonly Payload[]): boolean
  readonly log: ((line: string) => void) | undefined
  taskFailed(info: RunInfo, error: unknown): void
  unavailable(): ServiceError
  /** Error for the caller of an update that has no answer when the run closes. */
  closing(workflowId: string): Error
}

/** Interval at which work without a poller looks for a poller, ms. */
export const pollMs = 400

/**
 * A promise that never settles. Each caller gets its own, because a shared promise would keep every finished simulation
 * in memory.
 */
export const never = () => new Promise<never>(() => {})
