import type { Transfer } from '../domain/transfer/transfer.ts'
import type { Metrics } from './metrics.ts'

/**
 * Steps with measured times. `admitted`: ready. `broadcast`: a node has the transaction. `included`: seen in a block.
 */
export const timedSteps = ['started', 'admitted', 'nonce', 'broadcast', 'included', 'final'] as const
export type TimedStep = (typeof timedSteps)[number]

type About = Pick<Transfer, 'bridge' | 'targetChain'>

export type StepTimes = ReturnType<typeof createStepTimes>

/**
 * Longer times are ignored as wrong: clocks differ, and anyone with access to Temporal can forge the times of inputs.
 */
const longestSeconds = 30 * 86_400

export function createStepTimes(
  metrics: Pick<
    Metrics,
    | 'portage_transfer_step_seconds'
    | 'portage_transfer_seconds'
    | 'portage_delivery_cost_wei_total'
    | 'portage_useless_delivery_cost_wei_total'
  >,
  now: () => number = Date.now,
) {
  const secondsSince = (since: number | undefined, at: number) => {
    const seconds = (at - (since ?? Number.NaN)) / 1_000
    return Math.abs(seconds) <= longestSeconds ? Math.max(0, seconds) : undefined
  }
  return {
    /** Records how long the step took. `since`: end of the previous step, ms since the epoch. Returns the time now. */
    reached(step: TimedStep, { bridge, targetChain: chain }: About, since: number | undefined): number {
      const at = now()
      const seconds = secondsSince(since, at)
      if (seconds !== undefined) metrics.portage_transfer_step_seconds.observe({ chain, bridge, step }, seconds)
      return at
    },
    /** Counts the cost (wei) of a final transaction that delivered a transfer, or one of its stages. */
    useful({ bridge, targetChain: chain }: About, cost: bigint): void {
      metrics.portage_delivery_cost_wei_total.inc({ chain, bridge }, Number(cost))
    },
    /** Counts the cost (wei) of a final transaction that delivered nothing. */
    useless({ bridge, targetChain: chain }: About, cost: bigint): void {
      metrics.portage_useless_delivery_cost_wei_total.inc({ chain, bridge }, Number(cost))
    },
    /** Records the time of a delivered transfer. @param _fee worth of its fee, wei. Absent: the bridge is asked */
    delivered({ bridge, targetChain: chain }: Transfer, seenAt: number | undefined, _fee?: string): void {
      const seconds = secondsSince(seenAt, now())
      if (seconds !== undefined) metrics.portage_transfer_seconds.observe({ chain, bridge }, seconds)
    },
  }
}
