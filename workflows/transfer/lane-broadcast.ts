import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { BroadcastResult, Ready } from '../../temporal/contracts/transfer-steps.ts'
import type { TransferContext } from './context.ts'
import { failureText, timedOutInQueue } from '../failures.ts'
import { waits } from '../policies.ts'
import { broadcast, getLaneStatus, withdraw } from './steps.ts'
import { CancellationScope, condition, isCancellation, patched, TemporalFailure } from '@temporalio/workflow'

/**
 * What one `broadcast` came to. `cancelled`: the transfer is ending, and the ledger has let the intent go. `unserved`: no worker took it, or
 * it can't work, and the ledger has let the intent go.
 */
export type LaneBroadcastResult = BroadcastResult | { kind: 'cancelled' } | { kind: 'unserved'; code: ErrorCode; reason: string }

/** One intent on one lane: its tries to be broadcast, and its leave. */
export class LaneBroadcast {
  /** Set when the transfer has gone on: a cancel then concerns another leg, or none. */
  over = false
  readonly ready: Ready
  readonly #intentId: string
  readonly #course: TransferContext
  readonly #scope = new CancellationScope()
  /** Since when, ms, this run of the workflow knows that nobody works the lane, or that nobody may. */
  #strandedSince: number | undefined
  #letGo = false

  constructor(ready: Ready, course: TransferContext) {
    this.ready = ready
    this.#intentId = course.intentId
    this.#course = course
    void this.#watchForEnd()
  }

  /** Step 4, once. `lookUpOnly`: the intent was broadcast before, and gets no other nonce than the one it holds. */
  async broadcast(transfer: Transfer, lookUpOnly: boolean, label: string): Promise<LaneBroadcastResult> {
    const { lane, callHash, gasLimit, maxFee, tip, dataFee } = this.ready
    const fees = { gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) }
    const { id: owner, deadline } = this.#course
    const intent = { owner, intentId: this.#intentId, lane, transfer, callHash, ...fees, ...(deadline !== undefined && { deadline }) }
    for (let requeued = false; ; requeued = true) {
      const input = { ...intent, lookUpOnly, priority: this.#course.inbox.priority, ...(requeued && { requeued }) }
      try {
        return await this.#scope.run(() => broadcast(input, label))
      } catch (error) {
        if (isCancellation(error) && this.#letGo) return { kind: 'cancelled' }
        if (isCancellation(error)) throw error
        // Nobody took it in time. Busy is not dead: a lane that works is waited for, the same intent again.
        const at = timedOutInQueue(error) && patched('ask-standing') ? await this.#laneStatus() : undefined
        if (at?.lane.open) {
          await this.#course.renew()
          continue
        }
        return this.#unserved(failureText(error), at?.lane)
      }
    }
  }

  async #unserved(failure: string, at: LaneStatus | undefined): Promise<LaneBroadcastResult> {
    const reason = at?.detail ?? failure
    const answer = await this.#withdraw('leave')
    if (answer.kind === 'held') return { kind: 'pending', nonce: answer.nonce, attempts: 0, reason }
    return { kind: 'unserved', code: at?.why ? refusalCodes[at.why] : 'LANE_UNREACHABLE', reason }
  }

  /**
   * Gives up a nonce on a lane that is forbidden, or that nobody has worked for longer than the config's patience, if another lane is open or
   * the deadline has passed. The nonce stays the lane's debt: a no-op ends it when the key is back, or its call, and the effect is single all
   * the same. Says why; undefined: it stays, as it does where a lane is merely paused, and where an operator cancels, who is told the truth only
   * when nothing of it can be mined any more.
   */
  async abandon(): Promise<{ code: ErrorCode; reason: string } | undefined> {
    const at = await this.#laneStatus()
    const why = at?.lane.open === false ? at.lane.why : undefined
    if (!at || (why !== 'forbidden' && why !== 'unserved' && why !== 'replaced')) {
      if (at) this.#strandedSince = undefined
      return undefined
    }
    this.#strandedSince ??= Date.now()
    const { inbox, overdue } = this.#course
    const waited = Date.now() - this.#strandedSince >= at.abandonAfterMs
    if (!waited || inbox.cancelledBy || (at.others === 0 && !overdue)) return undefined
    if ((await this.#withdraw('abandon')).kind === 'held') return undefined
    return { code: refusalCodes[why], reason: `${this.ready.lane} is ${why}${at.lane.detail ? `: ${at.lane.detail}` : ''}` }
  }

  /** Did the lane let the intent go? The tombstone it leaves makes the next try another round. */
  async leave(): Promise<boolean> {
    return (await this.#withdraw('leave')).kind === 'free'
  }

  /** A ledger that is younger than this transfer answers `held` as long as what an earlier one granted may still be mined. */
  async untilFree(pause: (ms: number) => Promise<unknown>): Promise<void> {
    while ((await this.#withdraw('cancel')).kind === 'held') await pause(waits.pendingMs)
  }

  /** A cancel, or the deadline, asks the ledger. Without a nonce nothing can be sent any more, and the wait for one ends; with one, its fate decides. */
  async #watchForEnd(): Promise<void> {
    const { inbox, deadline, overdue } = this.#course
    const called = () => inbox.cancelledBy !== undefined || this.over
    try {
      if (deadline === undefined) await condition(called)
      else if (!overdue) await condition(called, deadline - Date.now())
      if (this.over) return
      this.#letGo = (await this.#withdraw('cancel')).kind === 'free'
      if (this.#letGo) this.#scope.cancel()
    } catch (error) {
      // The workflow itself was cancelled, or the lane can't be asked: whoever waits for `broadcast` meets the same.
      if (!(error instanceof TemporalFailure)) throw error
    }
  }

  #laneStatus() {
    return getLaneStatus({ chain: this.#course.transfer.targetChain, lane: this.ready.lane })
  }

  #withdraw(how: 'leave' | 'cancel' | 'abandon') {
    return withdraw({ lane: this.ready.lane, intentId: this.#intentId, how })
  }
}
