import { type LaneStatus, refusalCodes } from '../../domain/lane/messages.ts'
import { getLaneStatus } from './steps.ts'
import { ActivityCancellationType, CancellationScope, condition, isCancellation, proxyActivities } from '@temporalio/workflow'
import { backoffMs } from '../../domain/backoff.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import { defaultParkAfter, type Delivery } from '../../domain/transfer/transfer.ts'
import { summaryText } from '../../domain/text/web-ui-text.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import type * as contract from '../../temporal/contracts/transfer-steps.ts'
import type { BroadcastInput, BroadcastMode, BroadcastResult, Landed, Ready, Withdrawal } from '../../temporal/contracts/transfer-steps.ts'
import { broadcastPolicy, codeOf, failureText, localBroadcastPolicy, policies, timedOutInQueue, waits } from '../policies.ts'
import { includedAt, type Outcome, type TransferRun, wait } from './transfer-run.ts'

type Included = Extract<BroadcastResult, { kind: 'included' }>
type Refused = Pick<Extract<BroadcastResult, { kind: 'no-slot' }>, 'code' | 'reason'>

function wayOf({ stage, lane }: Pick<Ready, 'stage' | 'lane'>, follow: boolean): string {
  const way = follow ? 'following again' : `through ${lane}`
  return stage === undefined ? way : `stage ${stage}, ${way}`
}

/** Runs step 4, `broadcast`, until the call is in a block or the round ends. Undefined if the next step is `admit`. */
export async function broadcast(run: TransferRun, lane: LaneIntent, resumed: boolean): Promise<Included | Outcome | undefined> {
  const { ready } = lane
  const underway = (run.progress.underway ??= { ready })
  run.progress.lane = ready.lane
  for (let follow = resumed; ; follow = true) {
    if (follow && run.isDue) await run.continueAsNew()
    if (run.state !== 'broadcasting') run.enter('broadcasting', wayOf(ready, follow))
    const result = await lane.broadcast(follow)
    if ('landed' in result) run.record(ready.lane, result.landed, result.landed)
    else if ('tried' in result) run.record(ready.lane, result)
    switch (result.kind) {
      case 'delivered':
        if (underway.landed?.txHash !== result.landed.txHash) run.passInclusion(result.landed)
        underway.landed = result.landed
        return { kind: 'delivered', delivery: deliveryBy(lane, result.landed) }
      case 'passed':
        return run.passStage(ready.stage, result.landed)
      case 'included': {
        const { landed } = result
        Object.assign(underway, { landed, nonce: landed.nonce })
        run.enter('included', `block ${landed.blockHeight}, nonce ${landed.nonce}; not final yet`, {
          txHash: landed.txHash,
          at: includedAt(landed),
        })
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
        if (!(await lane.leave())) break
        await lane.freeIfEnding()
        return holdBack(run, lane, result)
      case 'unserved':
        await lane.freeIfEnding()
        return leaveLane(run, lane, result, result.reason)
      case 'withdrawn':
        return afterWithdrawal(run, lane, underway.nonce)
      case 'seen':
      case 'cancelled':
        // `seen` with a nonce means that the nonce is used up. An intent without a nonce stays in its round.
        if (result.kind === 'seen' && underway.nonce !== undefined) run.nextRound()
        run.stopFollowing()
        return
      case 'reverted':
        underway.nonce = result.landed.nonce
        return failRound(run, 'reverted', result)
      case 'spent':
        underway.nonce = result.nonce
        if (result.refused !== undefined) return failRound(run, 'refused', refusedByFew(result.refused))
        return failRound(run, 'spent', spent(`nonce ${result.nonce} was used by a ${result.by} transaction`))
    }
  }
}

function endingBy({ signals: { cancelledBy } }: TransferRun, { ready }: LaneIntent, nonce: number): { code?: ErrorCode; reason?: string } {
  if (!cancelledBy) return {}
  return { code: 'NONCE_NOT_FINAL', reason: `cancelled by ${cancelledBy.by}: waits for nonce ${nonce} of ${ready.lane} to be final` }
}

/**
 * A call that too few nodes refused is no revert, because one node may lie. With the default limits, five of both kinds
 * park the transfer.
 */
const spentByRefusal = Math.ceil(defaultParkAfter.spentNonces / defaultParkAfter.reverts)

const refusedByFew = (text: string): Why => ({ reason: `too few nodes answered, and refused the call: ${text}`, failedCall: 'refused' })
const spent = (reason: string): Why => ({ reason, failedCall: 'spent' })

type Why = Pick<Extract<BroadcastResult, { kind: 'reverted' }>, 'reason' | 'failedCall'>

export async function failRound(run: TransferRun, how: 'reverted' | 'spent' | 'refused', { reason, failedCall }: Why): Promise<undefined> {
  const { progress } = run
  const { reverts, spentNonces } = progress.underway?.ready.parkAfter ?? defaultParkAfter
  if (how === 'reverted') {
    progress.failures += 1
    progress.failedGas = (progress.failedGas ?? 0) + Number(progress.underway?.ready.gasLimit ?? 0)
  } else progress.spent += how === 'refused' ? spentByRefusal : 1
  run.nextRound()
  if (run.ending) return
  const { failures, spent } = progress
  const code = 'DELIVERY_REVERTED'
  if (failures >= reverts || spent >= spentNonces) return run.park(code, reason, failedCall)
  run.enter('waiting', reason, { code, reason, failedCall })
  await run.pause(backoffMs(failures + spent - 1, waits.firstBackoffMs, waits.longestBackoffMs), `${code}: ${reason}`)
}

async function afterWithdrawal(run: TransferRun, lane: LaneIntent, nonce: number | undefined): Promise<undefined> {
  if (!run.ending && nonce !== undefined) return failRound(run, 'spent', spent(`nonce ${nonce} was used without the effect`))
  await lane.freeIfEnding()
  run.nextRound()
}

/**
 * Ends the round of a call that got no nonce. After the first quarantine, the next admission follows immediately, with
 * a call that does not run the recipient's code.
 */
async function holdBack(run: TransferRun, lane: LaneIntent, refusal: Extract<BroadcastResult, { kind: 'no-slot' }>): Promise<undefined> {
  const { code, retryInMs } = refusal
  const reason = `${lane.ready.lane}: ${refusal.reason}`
  const isFirst = code === 'QUARANTINED' && !run.progress.quarantined
  turnAway(run, lane, { code, reason })
  if (retryInMs !== undefined && !isFirst && !run.ending) await wait(run, { kind: 'waiting', code, reason, retryInMs })
}

function leaveLane(run: TransferRun, lane: LaneIntent, { code, reason }: Refused, note: string): undefined {
  run.enter('waiting', note, { code, reason })
  return turnAway(run, lane, { code, reason })
}

/** Makes the next admission choose another lane, or wait, in a new round: the ledger refuses a withdrawn intent. */
function turnAway(run: TransferRun, { ready }: LaneIntent, { code, reason }: Refused): undefined {
  const { turnedAway } = run.progress
  run.progress.turnedAway = { lanes: [...(turnedAway?.lanes ?? []), ready.lane], code, reason }
  if (code === 'QUARANTINED') run.progress.quarantined = true
  run.nextRound()
}

function deliveryBy({ ready }: LaneIntent, { txHash, blockHeight, blockHash, gasPaid }: Landed): Delivery {
  return { by: laneAddress(ready.lane), ours: true, txHash, blockHeight, blockHash, gasPaid }
}

/** `cancelled`: the transfer must end. `unserved`: the lane cannot work. Either way, the intent was withdrawn. */
type LaneIntentResult =
  | BroadcastResult
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unserved'; readonly code: ErrorCode; readonly reason: string }

const cancellationType = ActivityCancellationType.TRY_CANCEL

const withdrawals: Readonly<Record<contract.WithdrawInput['how'], string>> = {
  leave: 'take another lane, if no nonce is held of',
  cancel: 'withdraw; a no-op replaces the nonce of',
  abandon: 'leave the nonce to',
}

export class LaneIntent {
  readonly ready: Ready
  readonly #run: TransferRun
  readonly #intentId: string
  #withdrawing = false
  #withdrawn = false

  constructor(run: TransferRun, ready: Ready) {
    this.ready = ready
    this.#run = run
    this.#intentId = run.intentId
  }

  get #underway() {
    return (this.#run.progress.underway ??= { ready: this.ready })
  }

  async broadcast(follow: boolean): Promise<LaneIntentResult> {
    for (let mode: BroadcastMode = follow ? 'follow' : 'new'; ; mode = follow ? 'follow' : 'requeued') {
      try {
        return await this.#broadcastUnlessWithdrawn(mode)
      } catch (error) {
        if (isCancellation(error)) throw error
        const status = timedOutInQueue(error) ? await this.#laneStatus() : undefined
        if (!status?.lane.open) return this.#unserved(error, status?.lane)
        if (this.#run.isDue) await this.#run.continueAsNew()
      }
    }
  }

  /** Withdraws the intent, once. The broadcast continues until the call, or the no-op for its nonce, is mined. */
  startWithdrawal(): void {
    if (this.#withdrawing) return
    this.#withdrawing = true
    this.#withdraw('cancel').then(
      ({ kind }) => void (this.#withdrawn = kind === 'free'),
      // If the withdrawal fails, the broadcast fails for the same reason, and the broadcast's error is handled.
      () => {},
    )
  }

  /**
   * Leaves the nonce to a lane that has not worked for `abandonAfterMs`, if another lane is open or the deadline has
   * passed. A cancelled transfer instead waits until none of its nonces can be mined.
   */
  async abandon(): Promise<{ code: ErrorCode; reason: string } | undefined> {
    const status = await this.#laneStatus()
    if (!status) return undefined
    const { open, why, detail } = status.lane
    if (open || (why !== 'forbidden' && why !== 'unserved' && why !== 'replaced')) {
      this.#underway.strandedAt = undefined
      return undefined
    }
    this.#underway.strandedAt ??= Date.now()
    const early = Date.now() - this.#underway.strandedAt < status.abandonAfterMs
    if (early || this.#run.signals.cancelledBy || (status.others === 0 && !this.#run.overdue)) return undefined
    if ((await this.#withdraw('abandon')).kind !== 'free') return undefined
    return { code: refusalCodes[why], reason: `${this.ready.lane} is ${why}${detail ? `: ${detail}` : ''}` }
  }

  /**
   * Withdraws the intent if it has no nonce. True if withdrawn: the ledger then refuses this intent, so the next try
   * must be a new round.
   */
  async leave(): Promise<boolean> {
    return (await this.#withdraw('leave')).kind === 'free'
  }

  /** Past the deadline, withdraws the intent, and waits until none of its nonces can be mined. */
  async freeIfEnding(): Promise<void> {
    if (!this.#run.ending || this.#run.signals.cancelledBy) return
    const what = `ends once ${this.ready.lane} has withdrawn it`
    while ((await this.#withdraw('cancel')).kind !== 'free') await this.#run.pause(waits.pendingMs, what)
  }

  async #broadcastUnlessWithdrawn(mode: BroadcastMode): Promise<LaneIntentResult> {
    const scope = new CancellationScope()
    let settled = false
    const onSettled = () => void (settled = true)
    const result = scope.run(() => (this.ready.local && mode === 'new' ? this.#localFirst() : this.#queued(mode)))
    result.then(onSettled, onSettled)
    await condition(() => settled || this.#run.ending)
    if (!settled) {
      this.startWithdrawal()
      await condition(() => settled || this.#withdrawn)
    }
    if (settled) return result
    scope.cancel()
    return { kind: 'cancelled' }
  }

  /** Tries once in this process, then on the lane's queue as `requeued`, because a call may have been sent. */
  async #localFirst(): Promise<BroadcastResult> {
    try {
      const options = { ...localBroadcastPolicy(), cancellationType, summary: this.#summary(', locally') }
      const result = await proxyActivities<contract.LocalBroadcastSteps>(options).broadcastLocally(this.#input('new'))
      if (result.kind !== 'elsewhere') return result
    } catch (error) {
      if (isCancellation(error)) throw error
    }
    return this.#queued('requeued')
  }

  /**
   * Runs the step on the lane's queue. A cancel ends the wait for the task immediately. The task then gets no nonce,
   * because its intent is withdrawn.
   */
  #queued(mode: BroadcastMode): Promise<BroadcastResult> {
    const options = { ...broadcastPolicy(), cancellationType, summary: this.#summary(), taskQueue: laneQueue(this.ready.lane) }
    return proxyActivities<contract.LaneSteps>(options).broadcast(this.#input(mode))
  }

  #summary(where = ''): string {
    const { lane, stage } = this.ready
    return summaryText(`broadcast ${this.#run.label}${stage === undefined ? '' : `, stage ${stage},`} by ${lane}${where}`)
  }

  #input(mode: BroadcastMode): BroadcastInput {
    const { transfer, deadline, signals, retriedAt, seenAt } = this.#run
    const { kind: _, local: __, parkAfter: ___, ...priced } = this.ready
    return { ...priced, intentId: this.#intentId, transfer, priority: signals.priority, deadline, retriedAt, seenAt, mode }
  }

  async #unserved(failure: unknown, status: LaneStatus | undefined): Promise<LaneIntentResult> {
    const reason = status?.detail ?? failureText(failure)
    const answer = await this.#withdraw('leave')
    if (answer.kind !== 'free') return { kind: 'pending', nonce: answer.nonce, attempts: 0, reason, tried: [] }
    return { kind: 'unserved', code: status ? refusalCodes[status.why ?? 'unserved'] : codeOf(failure), reason }
  }

  #laneStatus() {
    return getLaneStatus({ chain: this.#run.transfer.targetChain, lane: this.ready.lane })
  }

  /** An attacker with access to Temporal may replace the answer, so callers take every answer but `free` for `held`. */
  #withdraw(how: 'leave' | 'cancel' | 'abandon'): Promise<Withdrawal> {
    const { lane } = this.ready
    const options = { ...policies.keyless, summary: summaryText(`${withdrawals[how]} ${lane}`) }
    return proxyActivities<contract.KeylessSteps>(options).withdraw({ lane, intentId: this.#intentId, how })
  }
}
