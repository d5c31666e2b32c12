import { expect } from 'vitest'
import type { Sent, Stage } from './e2e.ts'

export interface Budget {
  readonly stateTransitions: number
  readonly historyEvents: number
}

export interface Cost extends Budget {
  /** Time from the transfer's start to its end, ms. */
  readonly ms: number
}

export function costs({ client }: Stage, sent: readonly Pick<Sent, 'id'>[]): Promise<Cost[]> {
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

/**
 * Measures up to `lots` times, because steps may cost more on a busy machine. Returns the first cost within the limits,
 * or else the last cost.
 */
export async function cheapLot<T>(lot: () => Promise<T>, isWithin: (lot: T) => boolean, lots = 3): Promise<T> {
  const costs = await lot()
  return lots <= 1 || isWithin(costs) ? costs : cheapLot(lot, isWithin, lots - 1)
}

export function isWithin({ stateTransitions, historyEvents }: Cost, most: Budget): boolean {
  return stateTransitions <= most.stateTransitions && historyEvents <= most.historyEvents
}

export function tell(all: readonly Budget[]): string {
  const range = (values: readonly number[]) => `${Math.min(...values)}–${Math.max(...values)}`
  return `${range(all.map((one) => one.stateTransitions))} state transitions, ${range(all.map((one) => one.historyEvents))} history events`
}
