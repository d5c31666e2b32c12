import { backoffMs } from '../../domain/backoff.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import type { Delivery } from '../../domain/transfer/transfer.ts'
import type { BroadcastResult, Landed } from '../../temporal/contracts/transfer-steps.ts'
import { roundsBeforeParking, spentBeforeParking, waits } from '../policies.ts'
import type { LaneIntent } from './lane-intent.ts'
import { nextRound, recordTransactions, stopFollowing } from './rounds.ts'
import type { Outcome } from './status.ts'
import type { TransferRun } from './transfer-run.ts'

type Included = Extract<BroadcastResult, { kind: 'included' }>
type Refused = Pick<Extract<BroadcastResult, { kind: 'no-slot' }>, 'code' | 'reason'>

/** Step 4, until a block or the end of the round. Undefined: go on at step 1. `resumed`: was broadcast before. */
export async function broadcast(run: TransferRun, lane: LaneIntent, resumed: boolean): Promise<Included | Outcome | undefined> {
  const { ready } = lane
  const underway = (run.progress.underway ??= { ready })
  run.progress.lane = ready.lane
  for (let follow = resumed; ; follow = true) {
    if (follow && run.isDue) await run.continueAsNew()
    if (run.state !== 'broadcasting') run.enter('broadcasting', follow ? 'following again' : `through ${ready.lane}`)
    const result = await lane.broadcast(follow)
    if ('landed' in result) recordTransactions(run.progress, { ...result.landed, lane: ready.lane, landed: result.landed })
    else if ('tried' in result) recordTransactions(run.progress, { ...result, lane: ready.lane })
    switch (result.kind) {
      case 'delivered':
        underway.landed = result.landed
        return { kind: 'delivered', delivery: deliveryBy(lane, result.landed) }
      case 'included': {
        const { landed } = result
        Object.assign(underway, { landed, nonce: landed.nonce })
        run.enter('included', `block ${landed.blockHeight}, nonce ${landed.nonce}; not final yet`, { txHash: landed.txHash })
        return result
      }
      case 'pending': {
        underway.nonce = result.nonce
        run.enter('pending', `nonce ${result.nonce}, ${result.attempts} attempts: ${result.reason}`, endingBy(run, lane, result.nonce))
        const abandoned = await lane.abandon()
        if (abandoned) return leaveLane(run, lane, abandoned, `nonce ${result.nonce} was left to its lane; ${abandoned.reason}`)
        await run.pause(waits.pendingMs, `nonce ${result.nonce} of ${lane.ready.lane} is in no block: ${result.reason}`)
        break
      }
      case 'no-slot':
        // It holds a nonce after all.
        if (!(await lane.leave())) break
        await lane.freeIfEnding()
        return turnAway(run, lane, { code: result.code, reason: `${ready.lane}: ${result.reason}` })
      case 'unserved':
        await lane.freeIfEnding()
        return leaveLane(run, lane, result, result.reason)
      case 'withdrawn':
        return afterWithdrawal(run, lane, underway.nonce)
      case 'seen':
      case 'cancelled':
        // A nonce that it held is used up. Without one the intent stays.
        if (result.kind === 'seen' && underway.nonce !== undefined) nextRound(run.progress)
        stopFollowing(run.progress)
        return
      case 'reverted':
        underway.nonce = result.landed.nonce
        return failRound(run, 'reverted', result.reason)
      case 'spent':
        underway.nonce = result.nonce
        return failRound(run, 'spent', `nonce ${result.nonce} was used by a ${result.by} transaction`)
    }
  }
}

function endingBy({ signals: { cancelledBy } }: TransferRun, { ready }: LaneIntent, nonce: number): { code?: ErrorCode; reason?: string } {
  if (!cancelledBy) return {}
  return { code: 'NONCE_NOT_FINAL', reason: `cancelled by ${cancelledBy.by}: waits for nonce ${nonce} of ${ready.lane} to be final` }
}

/** A nonce used by something else is not the transfer's fault: more of those are allowed. */
export async function failRound(run: TransferRun, how: 'reverted' | 'spent', reason: string): Promise<undefined> {
  const { progress } = run
  progress[how === 'reverted' ? 'failures' : 'spent'] += 1
  nextRound(progress)
  if (run.ending) return
  const { failures, spent } = progress
  const code = 'DELIVERY_REVERTED'
  if (failures >= roundsBeforeParking || spent >= spentBeforeParking) return run.park(code, reason)
  run.enter('waiting', reason, { code, reason })
  await run.pause(backoffMs(failures + spent - 1, waits.firstBackoffMs, waits.longestBackoffMs), `${code}: ${reason}`)
}

/** A nonce that it held before was used without the effect. */
async function afterWithdrawal(run: TransferRun, lane: LaneIntent, nonce: number | undefined): Promise<undefined> {
  if (!run.ending && nonce !== undefined) return failRound(run, 'spent', `nonce ${nonce} was used without the effect`)
  await lane.freeIfEnding()
  nextRound(run.progress)
}

function leaveLane(run: TransferRun, lane: LaneIntent, { code, reason }: Refused, note: string): undefined {
  run.enter('waiting', note, { code, reason })
  return turnAway(run, lane, { code, reason })
}

/** Another lane, or a wait at step 1. The ledger keeps a tombstone: the next try is a new round. */
function turnAway(run: TransferRun, { ready }: LaneIntent, { code, reason }: Refused): undefined {
  const { turnedAway } = run.progress
  run.progress.turnedAway = { lanes: [...(turnedAway?.lanes ?? []), ready.lane], code, reason }
  nextRound(run.progress)
}

function deliveryBy({ ready }: LaneIntent, { txHash, blockHeight, blockHash, gasPaid }: Landed): Delivery {
  return { by: laneAddress(ready.lane), ours: true, txHash, blockHeight, blockHash, gasPaid }
}
