import { backoffMs } from '../../domain/backoff.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Confirmation } from '../../temporal/contracts/transfer-steps.ts'
import type { TransferContext } from './context.ts'
import { waits } from '../policies.ts'
import { confirm } from './steps.ts'

/**
 * Step 5: waits until an included effect is final, or gone. With a lane of ours, gone means: back to `broadcast` with the same intent.
 * @param finalInMs first wait
 * @param verdict the transfer ends, or stops, if the effect is not there
 */
export async function settle(
  course: TransferContext,
  finalInMs: number,
  lane: LaneId | undefined,
  verdict?: true,
): Promise<Exclude<Confirmation, { kind: 'unsettled' }>> {
  const { progress } = course
  let waitMs = finalInMs
  for (let looks = 0; ; looks++) {
    if (waitMs > 0) await course.pause(waitMs)
    const { landed } = progress
    const input = { transfer: course.transfer, waitMs: waits.confirmMs, ...(lane && landed && { landed }), ...(verdict && { verdict }) }
    const result = await confirm(input, course.label)
    if (result.kind === 'delivered') {
      course.delivered(result.delivery)
      return result
    }
    if (result.kind !== 'unsettled') {
      progress.landed = undefined
      return result
    }
    await course.renew()
    // Past finality it is the nodes that do not agree: with one of two down, that may last, for every transfer of the chain at once.
    waitMs = Math.max(result.finalInMs, backoffMs(looks, waits.firstLookMs, waits.longestLookMs))
  }
}

/** The chain has the last word before a transfer ends, or stops, undelivered. True if the effect is there, ours or another's. */
export async function deliveredAfterAll(course: TransferContext): Promise<boolean> {
  const result = await confirm({ transfer: course.transfer, waitMs: 0, verdict: true }, course.label)
  if (result.kind !== 'gone') await settle(course, 0, undefined, true)
  return course.over
}
