import type { LaneAgent } from '../../lanes/agent.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Service } from '../../runtime/wait.ts'
import { GracefulShutdownPeriodExpiredError, type Worker } from '@temporalio/worker'
import { once } from 'node:events'
import { problemOf } from '../../observability/severity.ts'

export interface ProcessWork {
  /** Workers of ledgers. They stop last, because the last steps of other Workers may still call ledgers. */
  readonly ledgers: Worker[]
  readonly workers: Worker[]
  readonly agents: LaneAgent[]
  readonly services: Service[]
  readonly failure: AbortController
}

export interface Running {
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

export async function stopWork({ services, agents }: Pick<ProcessWork, 'services' | 'agents'>): Promise<void> {
  await Promise.allSettled(services.map((service) => service.stop()))
  for (const agent of agents) agent.stop()
}

export function supervise(
  { ledgers, workers, agents, services, failure }: ProcessWork,
  { onStop, close, logger }: { readonly onStop: () => void; readonly close: () => Promise<void>; readonly logger: Logger },
): Running {
  const stopping = new AbortController()
  const stopAsked = once(stopping.signal, 'abort')
  const shutDown = (some: readonly Worker[]) => some.forEach((worker) => worker.getState() === 'RUNNING' && worker.shutdown())
  const stopWorkers = () => {
    onStop()
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
    logger.error('this process cannot do its work; stopping', { ...problemOf(failure.signal.reason) })
    stopWorkers()
  })
  const [ledgerRuns, workerRuns] = [ledgers.map(run), workers.map(run)]
  const end = async () => {
    const results = await Promise.allSettled([stopAsked, ...workerRuns])
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
      // Calls that wait for a nonce go to another process. Calls with a nonce continue here until the time limit.
      for (const agent of agents) agent.quiesce()
      await stopServices()
      await stopped
    },
  }
}
