import { backoffMs } from '../../domain/backoff.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { TransferInput, TransferStatus } from '../../temporal/contracts/transfer.ts'
import type { Admission, Ready, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { TransferContext } from './context.ts'
import { codeOf, failureText } from '../failures.ts'
import { follow } from './drive-broadcast.ts'
import type { PendingSignals } from './pending-signals.ts'
import { LaneBroadcast } from './lane-broadcast.ts'
import { waits } from '../policies.ts'
import { deliveredAfterAll, settle } from './await-finality.ts'
import { admit, confirm, expedite } from './steps.ts'
import { ActivityFailure, isCancellation } from '@temporalio/workflow'

/** What may be over within minutes, and is looked at again within a minute. */
const passing: readonly ErrorCode[] = ['LANE_NONE', 'HALTED', 'FEE_CEILING', 'FEE_LIMIT']

/** A transfer on its way: what it does next. What it has met so far is in its course. */
export class TransferRun {
  readonly inbox: PendingSignals
  readonly #course: TransferContext

  constructor(input: TransferInput) {
    this.#course = new TransferContext(input)
    this.inbox = this.#course.inbox
  }

  get over(): boolean {
    return this.#course.over
  }

  status(): TransferStatus {
    return this.#course.journal.status(this.#course.transfer)
  }

  /** @param waiting only if it waits: who has parked meanwhile, or is past its deadline, waits for an operator's word and not for a gate */
  retry(waiting: boolean): void {
    const { journal, overdue } = this.#course
    if (waiting && journal.state === 'parked') return
    if (journal.state === 'parked' && overdue) this.#course.liftDeadline()
    this.#course.progress.failures = 0
    this.#course.progress.spent = 0
    this.#course.progress.waits = 0
    this.inbox.wake()
  }

  rolledBack(intentId: unknown): void {
    if (intentId === this.#course.intentId) this.inbox.wake()
  }

  expedite(): void {
    this.inbox.expedite()
    const { lane, state } = this.#course.progress
    // A raise that comes too late, or finds no worker, changes nothing: the lane raises stuck fees by itself.
    if (lane && (state === 'broadcasting' || state === 'pending')) expedite(lane, this.#course.intentId).catch(() => {})
  }

  /** From step 1, or from where a nonce may be held, to an outcome, or to a wait after which it goes on. */
  async walk(): Promise<void> {
    try {
      await this.#step()
    } catch (error) {
      // Steps are tried until they succeed. One that can't (the config lacks the bridge, say) is for a person to heal.
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
      const by = this.inbox.cancelledBy
      this.inbox.cancelledBy = undefined
      this.#course.park(codeOf(error), failureText(error) + (by ? `; the cancel by ${by.operator} must be repeated` : ''))
    }
  }

  async #step(): Promise<void> {
    await this.#course.renew()
    const { state, underway, round } = this.#course.progress
    if (state === 'parked' && !this.inbox.woken && !this.inbox.cancelledBy) return this.#stayParked()
    this.inbox.acknowledge()
    if (this.inbox.cancelledBy && !underway) return this.#endCancelled()
    if (this.#course.overdue && !underway) return this.#endOverdue()
    if (state === 'parked' || (state !== 'admitting' && !underway)) this.#course.journal.enter('admitting', `round ${round}`)
    return underway ? this.#broadcast(underway, true) : this.#admit()
  }

  async #admit(): Promise<void> {
    const candidate = this.inbox.takeAdopted()
    const transfer = candidate === undefined ? this.#course.transfer : { ...this.#course.transfer, message: candidate }
    const { avoid = [], doubted } = this.#course.progress
    const admission = await admit({ transfer, avoid, ...(doubted && { doubted }) }, this.#course.label).catch((error: unknown) => {
      if (candidate === undefined || isCancellation(error)) throw error
    })
    // A better-signed copy is taken over once its signatures passed; a worse one is forgotten, and the transfer's own message judged again.
    if (candidate !== undefined && admission && isHalted(admission)) {
      this.inbox.keep(candidate)
      return this.#wait(admission)
    }
    if (!admission || (candidate !== undefined && unproven(admission))) return
    this.#course.transfer = transfer
    await this.#after(admission)
  }

  async #after(admission: Admission): Promise<void> {
    switch (admission.kind) {
      case 'ready':
        return this.#broadcast(admission, false)
      case 'delivered':
        return this.#course.delivered(admission.delivery)
      case 'unsettled': {
        this.#course.journal.enter('included', 'by someone else; not final yet')
        const { kind } = await settle(this.#course, admission.finalInMs, undefined)
        if (kind === 'gone') this.#course.progress.doubted = true
        return
      }
      case 'waiting':
        return this.#wait(admission)
      case 'impossible':
        return this.#course.park(admission.code, admission.reason)
      case 'rejected':
        // Signatures were good when the id was taken: the set expired on the way, and a copy with newer ones may come (`adopt`).
        if (admission.code === 'GUARDIAN_SET_EXPIRED') return this.#course.park(admission.code, admission.reason)
        return this.#refuse(admission)
      case 'declined':
        return this.#refuse(admission)
    }
  }

  async #broadcast(ready: Ready, again: boolean): Promise<void> {
    const { progress } = this.#course.journal
    progress.underway = ready
    progress.lane = ready.lane
    const leg = new LaneBroadcast(ready, this.#course)
    try {
      await follow(this.#course, leg, again)
    } finally {
      leg.over = true
    }
    progress.underway = undefined
  }

  #refuse(verdict: { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string }): void {
    this.#course.journal.enter(verdict.kind, verdict.reason, verdict)
    this.#course.over = true
  }

  async #endCancelled(): Promise<void> {
    if (await deliveredAfterAll(this.#course)) return
    const by = this.inbox.cancelledBy
    this.#course.journal.enter('cancelled', `by ${by?.operator}: ${by?.reason}`, { reason: by?.reason ?? '' })
    this.#course.over = true
  }

  /** Too late for a try of its own: the next one is an operator's to order. */
  async #endOverdue(): Promise<void> {
    const { progress, deadline = 0 } = this.#course
    const { reason } = progress
    if (await deliveredAfterAll(this.#course)) return
    this.#course.nextRound()
    const passed = `not delivered by ${new Date(deadline).toISOString()}`
    this.#course.park('DEADLINE_PASSED', reason ? `${passed}; ${reason}` : passed)
  }

  /** Parked is still watched: once an hour the chain is asked whether someone delivered. */
  async #stayParked(): Promise<void> {
    if (await this.#course.pause(waits.continueAsNewMs)) return
    const result = await confirm({ transfer: this.#course.transfer, waitMs: 0 }, this.#course.label)
    if (result.kind !== 'delivered') return
    this.#course.delivered(result.delivery)
  }

  /** Waits for a closed gate: longer each time, ended early by `retry`. What a lane said that gave no nonce tells more than that there is none. */
  async #wait({ code, reason, retryInMs }: Extract<Stopped, { kind: 'waiting' }>): Promise<void> {
    const { progress } = this.#course.journal
    const why = (code === 'LANE_NONE' && progress.turnedAway) || { code, reason }
    this.#course.journal.enter('waiting', why.reason, why)
    const tries = progress.waits ?? 0
    progress.waits = tries + 1
    const longestMs = passing.includes(code) ? waits.longestLaneBackoffMs : waits.longestBackoffMs
    await this.#course.pause(Math.max(retryInMs, backoffMs(tries, waits.firstBackoffMs, longestMs)))
    progress.avoid = []
    progress.turnedAway = undefined
  }
}

/** Nothing was looked at, neither the transfer nor a copy of its message. */
function isHalted(admission: Admission): admission is Extract<Stopped, { kind: 'waiting' }> {
  return admission.kind === 'waiting' && admission.code === 'HALTED'
}

/** Is it open whether the guardians signed this copy? */
function unproven(admission: Admission): boolean {
  return admission.kind === 'rejected' || (admission.kind === 'waiting' && admission.code === 'GUARDIAN_SET_UNKNOWN')
}
