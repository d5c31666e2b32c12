import type { LaneAgent } from '../../lanes/agent.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Service } from '../roles/context.ts'
import { GracefulShutdownPeriodExpiredError, type Worker } from '@temporalio/worker'
import { once } from 'node:events'
import { problemOf } from '../../observability/severity.ts'

/** What runs in a process. */
export interface ProcessWork {
  /** Stopped last: steps that are ending may still ask them. */
  readonly ledgers: Worker[]
  readonly workers: Worker[]
  readonly agents: LaneAgent[]
  readonly services: Service[]
  /** Aborted, with the error, where a part finds that this process is of no use any more. */
  readonly failure: AbortController
}

export interface Running {
  /** Ends when everything has stopped; rejects if a part failed. */
  readonly stopped: Promise<void>
  /** Takes nothing new, lets what runs end, closes. */
  stop(): Promise<void>
}

/** Stops the work of a start that failed: its Workers do not run yet. */
export async function stopWork({ services, agents }: Pick<ProcessWork, 'services' | 'agents'>): Promise<void> {
  await Promise.allSettled(services.map((service) => service.stop()))
  for (const agent of agents) agent.stop()
}

export interface Supervision {
  /** Called when the end begins. */
  readonly stopping: () => void
  /** Ends what the work depends on, last. */
  readonly close: () => Promise<void>
  readonly logger: Logger
}

/** Runs the Workers until one of them fails or the process is told to stop; then ends everything in order. */
export function supervise({ ledgers, workers, agents, services, failure }: ProcessWork, supervision: Supervision): Running {
  const { close, logger } = supervision
  const stopping = new AbortController()
  const stopAsked = once(stopping.signal, 'abort')
  const shutDown = (some: readonly Worker[]) => some.forEach((worker) => worker.getState() === 'RUNNING' && worker.shutdown())
  const stopWorkers = () => {
    supervision.stopping()
    stopping.abort()
    shutDown(workers)
  }
  const stopServices = () => Promise.all(services.map((service) => service.stop()))
  const run = (worker: Worker) =>
    worker.run().catch((error: unknown) => {
      if (stopping.signal.aborted && error instanceof GracefulShutdownPeriodExpiredError) {
        const { taskQueue } = worker.options
        logger.warn('steps that did not end in time are left to other processes', { code: 'STEPS_LEFT', taskQueue })
        return
      }
      logger.error('a worker failed; stopping', { ...problemOf(error) })
      stopWorkers()
      throw error
    })
  failure.signal.addEventListener('abort', () => {
    logger.error('this process is of no use any more; stopping', { ...problemOf(failure.signal.reason) })
    stopWorkers()
  })
  const [ledgerRuns, workerRuns] = [ledgers.map(run), workers.map(run)]
  const end = async () => {
    const results = await Promise.allSettled([stopAsked, ...workerRuns])
    // They may still ask a ledger.
    await stopServices()
    shutDown(ledgers)
    results.push(...(await Promise.allSettled(ledgerRuns)))
    for (const agent of agents) agent.stop()
    await close()
    failure.signal.throwIfAborted()
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
  const stopped = end()
  return {
    stopped,
    stop: async () => {
      stopWorkers()
      // What waits for a nonce goes to another process at once; what has one is signed, sent and followed while there is time.
      for (const agent of agents) agent.quiesce()
      await stopServices()
      await stopped
    },
  }
}
