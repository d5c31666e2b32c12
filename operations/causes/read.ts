import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { within } from '../../runtime/wait.ts'
import { type TemporalClient, within as withinClient } from '../../temporal/client/connection/client.ts'
import { describeOpenRun, type OpenRun } from '../../temporal/client/visibility/runs.ts'
import type { FailingWorkflow, Read } from './facts.ts'

/** The sources are read in parallel, so a report takes about as long as the slowest source. */
export const limits = { temporalMs: 5_000, nodeMs: 2_500, chainMs: 6_000, spyMs: 2_500 } as const

/**
 * Returns the value or error of `ask` with the time of the reading. The error is INTERNAL after `limitMs`. Never
 * throws.
 */
export async function read<Value>(limitMs: number, ask: () => Promise<Value>): Promise<Read<Value>> {
  const late = () => {
    throw new RelayerError('INTERNAL', { detail: `no answer within ${limitMs / 1_000} s` })
  }
  try {
    const value = await within(limitMs, ask(), late)
    return { asOf: Date.now(), value }
  } catch (error) {
    return { asOf: Date.now(), error: toRelayerError(error) }
  }
}

export const triesUntilFailing = 3

export function pendingWork(client: TemporalClient, run: Parameters<typeof describeOpenRun>[1], withinMs: number = limits.temporalMs) {
  return withinClient(client, withinMs, () => describeOpenRun(client, run)).catch(() => undefined)
}

export function failingOf(workflow: string, work: OpenRun | undefined): FailingWorkflow | undefined {
  const { taskTries: tries = 0, taskSince: since } = { ...work }
  return tries < triesUntilFailing ? undefined : { workflow, tries, since }
}
