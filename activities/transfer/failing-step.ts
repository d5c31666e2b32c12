import type { Chain } from '../../chains/port.ts'
import { type Facts, toRelayerError, RelayerError, waitsForItself } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { within } from '../../runtime/wait.ts'
import type { Waiting } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { endpointOf } from '../route.ts'
import { Context } from '@temporalio/activity'

const triesUntilWait = 3
const retryInMs = 15_000
/** Part of a step's time-out in which it can still report that it is late. */
const reportMs = 5_000

/**
 * Makes a transfer wait if its durable step has failed three times although most nodes show new blocks. Temporal would
 * retry the step for ever, and no order or deadline would reach the transfer. While a chain is unreachable, nothing
 * could end the transfer anyway, and Temporal's retries are the cheapest.
 *
 * @param unverified set for the step that verifies the message
 */
export function createWaitIfFailing(deps: StepDeps) {
  const movedSince = createMovedSince()

  return <Input extends { transfer: Transfer }, Result>(step: (input: Input) => Promise<Result>, unverified?: true) =>
    async (input: Input): Promise<Result | Waiting> => {
      const { attempt, startToCloseTimeoutMs, activityType } = Context.current().info
      const scheduledAt = scheduledMoment()
      const limitMs = startToCloseTimeoutMs - reportMs
      try {
        return await within(limitMs, step(input), () => {
          throw new RelayerError('STEP_LATE', { detail: `It did not end within ${limitMs} ms.`, facts: { step: activityType } })
        })
      } catch (error) {
        const { code, retriable, about, facts } = toRelayerError(error)
        const isMoving = movedSince(chainsOf(deps, input.transfer, facts), scheduledAt)
        if (attempt < triesUntilWait || !retriable || !waitsForItself(code) || !isMoving) throw error
        endpointOf(deps, input.transfer).release?.(input.transfer)
        return { kind: 'waiting', code, reason: about, retryInMs, ...(unverified && { unverified }) }
      }
    }
}

/**
 * When the step was scheduled, by `performance.now` of this process. Both times of the step are by Temporal's clock,
 * which may differ by hours from this machine's clock.
 */
function scheduledMoment(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info
  return performance.now() - Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs)
}

/** The chain whose nodes failed. If the error names none, each chain of the transfer that this process reads. */
function chainsOf({ chains }: StepDeps, { sourceChain, targetChain }: Transfer, { chain }: Facts): Chain[] {
  const failed = typeof chain === 'string' && chains.has(chain) ? [chain] : [targetChain, sourceChain]
  return failed.flatMap((name) => chains.get(name) ?? [])
}

/**
 * Returns a function that says whether most nodes of each chain have shown a new block since `at` (`performance.now`).
 * It knows only blocks that came after its first call for the chain.
 */
function createMovedSince() {
  const seen = new Map<Chain, { time: number | undefined; at: number }>()

  return (chains: readonly Chain[], at: number): boolean => {
    for (const chain of chains.filter((one) => !seen.has(one))) {
      const { heads } = chain
      const last = { time: heads.current?.time, at: -Infinity }
      seen.set(chain, last)
      heads.subscribe(({ time }) => {
        if (time !== last.time) Object.assign(last, { time, at: performance.now() })
      })
    }
    return chains.every((chain) => (seen.get(chain)?.at ?? -Infinity) >= at)
  }
}
