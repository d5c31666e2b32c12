import type { Transfer } from '../domain/transfer/transfer.ts'
import type { Metrics } from './metrics.ts'

/**
 * The steps of a transfer whose times are shown, in order. started: its workflow is there, and before that it was seen. admitted: it may be broadcast. nonce: the
 * ledger granted one. broadcast: a node has its transaction. included: this process sees it in a block. final: its effect is final.
 */
export const timedSteps = ['started', 'admitted', 'nonce', 'broadcast', 'included', 'final'] as const
export type TimedStep = (typeof timedSteps)[number]

type About = Pick<Transfer, 'bridge' | 'targetChain'>

/** Shows how long transfers took for their steps. Each process counts the steps that it made itself. */
export interface StepTimes {
  /** @param since when the step before it was done, ms since the epoch; undefined: not known, and nothing is shown. Returns now, for the next step */
  reached(step: TimedStep, about: About, since: number | undefined): number
  /** Delivered by us, and final. @param seenAt when it was seen, ms since the epoch */
  delivered(transfer: Transfer, seenAt: number | undefined): void
}

/** Clocks of machines differ, and times of a workflow's input are from whoever can reach Temporal: what is no time between two steps is left out, s. */
const longestSeconds = 30 * 86_400

/** Keeps the times in the histograms of the process. */
export function createStepTimes(
  metrics: Pick<Metrics, 'portage_transfer_step_seconds' | 'portage_transfer_seconds'>,
  now: () => number = Date.now,
) {
  const secondsSince = (since: number | undefined, at: number) => {
    const seconds = (at - (since ?? Number.NaN)) / 1_000
    return Math.abs(seconds) <= longestSeconds ? Math.max(0, seconds) : undefined
  }
  return {
    reached(step: TimedStep, { bridge, targetChain: chain }: About, since: number | undefined): number {
      const at = now()
      const seconds = secondsSince(since, at)
      if (seconds !== undefined) metrics.portage_transfer_step_seconds.observe({ chain, bridge, step }, seconds)
      return at
    },
    delivered({ bridge, targetChain: chain }: About, seenAt: number | undefined): void {
      const seconds = secondsSince(seenAt, now())
      if (seconds !== undefined) metrics.portage_transfer_seconds.observe({ chain, bridge }, seconds)
    },
  } satisfies StepTimes
}
