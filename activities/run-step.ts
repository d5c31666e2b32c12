import { toRelayerError } from '../domain/catalogue/errors.ts'
import { redactText } from '../observability/redact.ts'
import { defaultFailoverTimes } from '../temporal/contracts/failover.ts'
import { Context } from '@temporalio/activity'
import { ApplicationFailure, TemporalFailure } from '@temporalio/common'

/** Times of heartbeats as shares of the time-out: until the first heartbeat, and between later heartbeats. */
const firstShare = 0.5
const everyShare = 0.3

const longestMessage = 4_000

export type BeatingStep<Input, Result> = (input: Input, context: Context, enter: (phase: string) => void) => Promise<Result>

/**
 * Adds heartbeats, which reveal a dead worker, but cost state transitions. Healthy steps end before the first
 * heartbeat.
 */
export function withHeartbeats<Input, Result>(step: BeatingStep<Input, Result>): (input: Input) => Promise<Result> {
  return async (input) => {
    const context = Context.current()
    const timeoutMs = context.info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs
    const phases: { at: string; phase: string }[] = []
    let timer = setTimeout(function tick() {
      context.heartbeat(phases)
      timer = setTimeout(tick, timeoutMs * everyShare)
    }, timeoutMs * firstShare)
    try {
      return await step(input, context, (phase) => {
        if (phases.at(-1)?.phase !== phase) phases.push({ at: new Date().toISOString(), phase })
      })
    } finally {
      clearTimeout(timer)
    }
  }
}

export function toFailure(error: unknown): TemporalFailure {
  if (error instanceof TemporalFailure) return error
  const { code, message, retriable, facts } = toRelayerError(error)
  return ApplicationFailure.create({
    type: code,
    message: redactText(message.slice(0, longestMessage)),
    nonRetryable: !retriable,
    details: [facts],
  })
}

type Step = (input: never) => Promise<unknown>

export function guarded<Steps extends Record<keyof Steps, Step>>(steps: Steps): Steps {
  const guard = (step: Step) => async (input: never) => {
    try {
      return await step(input)
    } catch (error) {
      throw toFailure(error)
    }
  }
  return Object.fromEntries(Object.entries<Step>(steps).map(([name, step]) => [name, guard(step)])) as unknown as Steps
}
