import { expect } from 'vitest'
import type { Sent, Stage } from './e2e.ts'

/** What a transfer may cost the Temporal server, by the server's own count. */
export interface Budget {
  readonly stateTransitions: number
  readonly historyEvents: number
}

export interface Cost extends Budget {
  /** From start to end. */
  readonly ms: number
}

export function costs({ client }: Stage, sent: readonly Sent[]): Promise<Cost[]> {
  return Promise.all(
    sent.map(async ({ id }) => {
      const { raw, historyLength, startTime, closeTime } = await client.workflow.getHandle(id).describe()
      const stateTransitions = Number(raw.workflowExecutionInfo?.stateTransitionCount ?? Number.NaN)
      return { stateTransitions, historyEvents: historyLength, ms: Number(closeTime) - Number(startTime) }
    }),
  )
}

export function expectWithin({ stateTransitions, historyEvents }: Cost, most: Budget): void {
  expect(stateTransitions).toBeGreaterThan(0)
  expect(stateTransitions).toBeLessThanOrEqual(most.stateTransitions)
  expect(historyEvents).toBeLessThanOrEqual(most.historyEvents)
}

export function tell(all: readonly Budget[]): string {
  const range = (values: readonly number[]) => `${Math.min(...values)}–${Math.max(...values)}`
  return `${range(all.map((one) => one.stateTransitions))} state transitions, ${range(all.map((one) => one.historyEvents))} history events`
}
