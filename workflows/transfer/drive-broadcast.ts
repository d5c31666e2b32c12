import { backoffMs } from '../../domain/backoff.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Landed } from '../../temporal/contracts/transfer-steps.ts'
import type { TransferContext } from './context.ts'
import type { LaneBroadcast } from './lane-broadcast.ts'
import { roundsBeforeParking, spentBeforeParking, waits } from '../policies.ts'
import { settle } from './await-finality.ts'
import { patched } from '@temporalio/workflow'

/** Step 4 until the nonce has met its fate, or was never given. */
export async function follow(course: TransferContext, leg: LaneBroadcast, resumed: boolean): Promise<void> {
  const { journal, progress } = course
  const { lane } = leg.ready
  for (let again = resumed; ; again = true) {
    if (again) await course.renew()
    if (progress.state !== 'broadcasting') journal.enter('broadcasting', again ? 'following again' : `through ${lane}`)
    const result = await leg.broadcast(course.transfer, again, course.label)
    switch (result.kind) {
      case 'delivered':
        return endDelivered(course, result.landed, lane)
      case 'included': {
        progress.landed = result.landed
        journal.holds(result.landed.nonce)
        journal.enter('included', `block ${result.landed.blockHeight}, nonce ${result.landed.nonce}; not final yet`, {
          txHash: result.landed.txHash,
        })
        const end = await settle(course, result.finalInMs, lane)
        if (end.kind === 'delivered') return
        if (end.kind === 'reverted') return failed(course, 'reverted', end.reason)
        break
      }
      case 'pending':
        journal.holds(result.nonce)
        journal.enter('pending', `nonce ${result.nonce}, ${result.attempts} attempts: ${result.reason}`)
        if (patched('abandon')) {
          const why = await leg.abandon()
          if (why) return abandoned(course, lane, why)
        }
        await course.pause(waits.pendingMs)
        break
      case 'no-slot':
        if (!(await leg.leave())) break
        if (course.ending) await leg.untilFree((ms) => course.pause(ms))
        // Another lane may have room: back to step 1, which waits if there is none.
        return turnedAway(course, lane, { code: result.code, reason: `${lane}: ${result.reason}` })
      case 'unserved': {
        const why = { code: result.code, reason: result.reason }
        if (course.ending) await leg.untilFree((ms) => course.pause(ms))
        journal.enter('waiting', why.reason, why)
        return turnedAway(course, lane, why)
      }
      case 'cancelled':
        return
      case 'seen':
        // What it held, if anything, is used up by now.
        if (progress.nonce !== undefined) course.nextRound()
        return
      case 'withdrawn':
        if (course.ending) await leg.untilFree((ms) => course.pause(ms))
        // It had a nonce, and the ledger has done with it: used without the effect.
        else if (progress.nonce !== undefined) return failed(course, 'spent', `nonce ${progress.nonce} was used without the effect`)
        course.nextRound()
        return
      case 'reverted':
        return failed(course, 'reverted', result.reason)
      case 'spent':
        return failed(course, 'spent', `nonce ${result.nonce} was used by a ${result.by} transaction`)
    }
  }
}

function endDelivered(course: TransferContext, landed: Landed, lane: LaneId): void {
  course.progress.landed = landed
  const { txHash, blockHeight, blockHash, gasPaid } = landed
  course.delivered({ by: lane.slice(lane.indexOf(':') + 1), ours: true, txHash, blockHeight, blockHash, gasPaid })
}

/** A revert is the call's own doing. A nonce that something else used is the lane's: a healthy transfer outlives many of those. */
async function failed(course: TransferContext, how: 'reverted' | 'spent', reason: string): Promise<void> {
  const { progress } = course
  if (how === 'reverted') progress.failures += 1
  else progress.spent = (progress.spent ?? 0) + 1
  progress.landed = undefined
  course.nextRound()
  if (course.ending) return
  const { failures, spent = 0 } = progress
  if (failures >= roundsBeforeParking || spent >= spentBeforeParking) return course.park('DELIVERY_REVERTED', reason)
  course.journal.enter('waiting', reason, { code: 'DELIVERY_REVERTED', reason })
  await course.pause(backoffMs(failures + spent - 1, waits.firstBackoffMs, waits.longestBackoffMs))
}

/** The nonce is the lane's alone from here on, and so is what becomes of it. */
function abandoned(course: TransferContext, lane: LaneId, why: { code: ErrorCode; reason: string }): void {
  const { nonce } = course.progress
  course.journal.enter('waiting', `nonce ${nonce} was left to its lane; ${why.reason}`, why)
  turnedAway(course, lane, why)
}

/** The lane gave no nonce and keeps a tombstone: another round, and another lane first. */
function turnedAway(course: TransferContext, lane: LaneId, why: { code: ErrorCode; reason: string }): void {
  const { progress } = course
  progress.avoid = [...(progress.avoid ?? []), lane]
  progress.turnedAway = why
  course.nextRound()
}
