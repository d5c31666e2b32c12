import { backoffMs } from '../domain/backoff.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { TransferInput, TransferStatus } from '../temporal/messages.ts'
import type { Admission, Confirmation, Landed, Ready, Stopped } from '../temporal/steps.ts'
import { codeOf, failureText } from './failures.ts'
import { Inbox } from './inbox.ts'
import { Journal } from './journal.ts'
import { Leg } from './leg.ts'
import { roundsBeforeParking, waits } from './policies.ts'
import { admit, confirm, expedite } from './steps.ts'
import { ActivityFailure, continueAsNew, isCancellation, workflowInfo } from '@temporalio/workflow'

/** A transfer on its way: what it has met so far, and what it does next. */
export class Way {
  over = false
  readonly inbox: Inbox
  readonly #id = workflowInfo().workflowId
  readonly #born = Date.now()
  readonly #journal: Journal
  #transfer: Transfer

  constructor(input: TransferInput) {
    this.#transfer = input.transfer
    this.#journal = new Journal(this.#id, input.progress)
    this.inbox = new Inbox(input.unheeded)
  }

  status(): TransferStatus {
    return this.#journal.status(this.#transfer)
  }

  retry(): void {
    this.#journal.progress.failures = 0
    this.#journal.progress.waits = 0
    this.inbox.wake()
  }

  rolledBack(intentId: unknown): void {
    if (intentId === this.#intentId) this.inbox.wake()
  }

  expedite(): void {
    this.inbox.expedite()
    const { lane, state } = this.#journal.progress
    // A raise that comes too late, or finds no worker, changes nothing: the lane raises stuck fees by itself.
    if (lane && (state === 'broadcasting' || state === 'pending')) expedite(lane, this.#intentId).catch(() => {})
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
      this.#park(codeOf(error), failureText(error) + (by ? `; the cancel by ${by.operator} must be repeated` : ''))
    }
  }

  async #step(): Promise<void> {
    await this.#renew()
    const { state, underway, round } = this.#journal.progress
    if (state === 'parked' && !this.inbox.woken && !this.inbox.cancelledBy) return this.#stayParked()
    this.inbox.heed()
    if (this.inbox.cancelledBy && !underway) return this.#endCancelled()
    if (state === 'parked' || (state !== 'admitting' && !underway)) this.#journal.enter('admitting', `round ${round}`)
    return underway ? this.#broadcast(underway, true) : this.#admit()
  }

  async #admit(): Promise<void> {
    const candidate = this.inbox.takeAdopted()
    const transfer = candidate === undefined ? this.#transfer : { ...this.#transfer, message: candidate }
    const admission = await admit({ transfer, avoid: this.#journal.progress.avoid ?? [] }, this.#label).catch((error: unknown) => {
      if (candidate === undefined || isCancellation(error)) throw error
    })
    // A better-signed copy is taken over once its signatures passed; a worse one is forgotten, and the transfer's own message judged again.
    if (!admission || (candidate !== undefined && unproven(admission))) return
    this.#transfer = transfer
    await this.#after(admission)
  }

  async #after(admission: Admission): Promise<void> {
    switch (admission.kind) {
      case 'ready':
        return this.#broadcast(admission, false)
      case 'delivered':
        this.#journal.delivered(admission.delivery)
        this.over = true
        return
      case 'unsettled':
        this.#journal.enter('included', 'by someone else; not final yet')
        await this.#settle(admission.finalInMs, undefined)
        return
      case 'waiting':
        return this.#wait(admission)
      case 'impossible':
        return this.#park(admission.code, admission.reason)
      case 'rejected':
        // Signatures were good when the id was taken: the set expired on the way, and a copy with newer ones may come (`adopt`).
        if (admission.code === 'GUARDIAN_SET_EXPIRED') return this.#park(admission.code, admission.reason)
        return this.#refuse(admission)
      case 'declined':
        return this.#refuse(admission)
    }
  }

  async #broadcast(ready: Ready, again: boolean): Promise<void> {
    const { progress } = this.#journal
    progress.underway = ready
    progress.lane = ready.lane
    const leg = new Leg(ready, { owner: this.#id, intentId: this.#intentId }, this.inbox)
    try {
      await this.#follow(leg, again)
    } finally {
      leg.over = true
    }
    progress.underway = undefined
  }

  /** Step 4 until the nonce has met its fate, or was never given. */
  async #follow(leg: Leg, resumed: boolean): Promise<void> {
    const { progress } = this.#journal
    const { lane } = leg.ready
    for (let again = resumed; ; again = true) {
      if (again) await this.#renew()
      if (progress.state !== 'broadcasting') this.#journal.enter('broadcasting', again ? 'following again' : `through ${lane}`)
      const result = await leg.broadcast(this.#transfer, again, this.#label)
      switch (result.kind) {
        case 'delivered':
          return this.#endDelivered(result.landed, lane)
        case 'included': {
          progress.landed = result.landed
          this.#journal.holds(result.landed.nonce)
          this.#journal.enter('included', `block ${result.landed.blockHeight}, nonce ${result.landed.nonce}; not final yet`, {
            txHash: result.landed.txHash,
          })
          const end = await this.#settle(result.finalInMs, lane)
          if (end.kind === 'delivered') return
          if (end.kind === 'reverted') return this.#failed(end.reason)
          break
        }
        case 'pending':
          this.#journal.holds(result.nonce)
          this.#journal.enter('pending', `nonce ${result.nonce}, ${result.attempts} attempts: ${result.reason}`)
          await this.#pause(waits.pendingMs)
          break
        case 'no-slot':
          if (!(await leg.leave())) break
          if (this.inbox.cancelledBy) await leg.untilFree((ms) => this.#pause(ms))
          // Another lane may have room: back to step 1, which waits if there is none.
          return this.#turnedAway(lane, { code: result.code, reason: `${lane}: ${result.reason}` })
        case 'unserved': {
          const why = { code: 'LANE_UNREACHABLE', reason: result.reason } as const
          if (this.inbox.cancelledBy) await leg.untilFree((ms) => this.#pause(ms))
          this.#journal.enter('waiting', why.reason, why)
          return this.#turnedAway(lane, why)
        }
        case 'cancelled':
          return
        case 'seen':
          return
        case 'withdrawn':
          if (this.inbox.cancelledBy) await leg.untilFree((ms) => this.#pause(ms))
          // It had a nonce, and the ledger has done with it: used without the effect.
          else if (progress.nonce !== undefined) return this.#failed(`nonce ${progress.nonce} was used without the effect`)
          this.#nextRound()
          return
        case 'reverted':
        case 'spent':
          return this.#failed(result.kind === 'reverted' ? result.reason : `nonce ${result.nonce} was used by a ${result.by} transaction`)
      }
    }
  }

  /** Waits until an included effect is final, or gone. With a lane of ours, gone means: back to `broadcast` with the same intent. */
  async #settle(finalInMs: number, lane: LaneId | undefined): Promise<Exclude<Confirmation, { kind: 'unsettled' }>> {
    let waitMs = finalInMs
    for (;;) {
      if (waitMs > 0) await this.#pause(waitMs)
      const { landed } = this.#journal.progress
      const input = { transfer: this.#transfer, waitMs: waits.confirmMs, ...(lane && landed && { landed }) }
      const result = await confirm(input, this.#label)
      if (result.kind === 'delivered') {
        this.#journal.delivered(result.delivery)
        this.over = true
        return result
      }
      if (result.kind !== 'unsettled') {
        this.#journal.progress.landed = undefined
        return result
      }
      await this.#renew()
      waitMs = Math.max(1_000, result.finalInMs)
    }
  }

  #endDelivered(landed: Landed, lane: LaneId): void {
    this.#journal.progress.landed = landed
    const { txHash, blockHeight, blockHash, gasPaid } = landed
    this.#journal.delivered({ by: lane.slice(lane.indexOf(':') + 1), ours: true, txHash, blockHeight, blockHash, gasPaid })
    this.over = true
  }

  #refuse(verdict: { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string }): void {
    this.#journal.enter(verdict.kind, verdict.reason, verdict)
    this.over = true
  }

  /** The chain has the last word: if the effect is there, ours or another's, the transfer is delivered. */
  async #endCancelled(): Promise<void> {
    const result = await confirm({ transfer: this.#transfer, waitMs: 0 }, this.#label)
    if (result.kind !== 'gone') await this.#settle(0, undefined)
    if (this.over) return
    const by = this.inbox.cancelledBy
    this.#journal.enter('cancelled', `by ${by?.operator}: ${by?.reason}`, { reason: by?.reason ?? '' })
    this.over = true
  }

  async #failed(reason: string): Promise<void> {
    const { progress } = this.#journal
    progress.failures += 1
    progress.landed = undefined
    this.#nextRound()
    if (this.inbox.cancelledBy) return
    if (progress.failures >= roundsBeforeParking) return this.#park('DELIVERY_REVERTED', reason)
    this.#journal.enter('waiting', reason, { code: 'DELIVERY_REVERTED', reason })
    await this.#pause(backoffMs(progress.failures - 1, waits.firstBackoffMs, waits.longestBackoffMs))
  }

  #nextRound(): void {
    this.#journal.progress.round += 1
    this.#journal.holds(undefined)
  }

  #park(code: ErrorCode, reason: string): void {
    this.#journal.enter('parked', reason, { code, reason })
  }

  /** Parked is still watched: once an hour the chain is asked whether someone delivered. */
  async #stayParked(): Promise<void> {
    if (await this.#pause(waits.continueAsNewMs)) return
    const result = await confirm({ transfer: this.#transfer, waitMs: 0 }, this.#label)
    if (result.kind !== 'delivered') return
    this.#journal.delivered(result.delivery)
    this.over = true
  }

  /** Waits for a closed gate: longer each time, ended early by `retry`. What a lane said that gave no nonce tells more than that there is none. */
  async #wait({ code, reason, retryInMs }: Extract<Stopped, { kind: 'waiting' }>): Promise<void> {
    const { progress } = this.#journal
    const why = (code === 'LANE_NONE' && progress.turnedAway) || { code, reason }
    this.#journal.enter('waiting', why.reason, why)
    const tries = progress.waits ?? 0
    progress.waits = tries + 1
    const longestMs = code === 'LANE_NONE' || code === 'HALTED' ? waits.longestLaneBackoffMs : waits.longestBackoffMs
    await this.#pause(Math.max(retryInMs, backoffMs(tries, waits.firstBackoffMs, longestMs)))
    progress.avoid = []
    progress.turnedAway = undefined
  }

  /** The lane gave no nonce and keeps a tombstone: another round, and another lane first. */
  #turnedAway(lane: LaneId, why: { code: ErrorCode; reason: string }): void {
    const { progress } = this.#journal
    progress.avoid = [...(progress.avoid ?? []), lane]
    progress.turnedAway = why
    this.#nextRound()
  }

  /** True if something woke it before the time was over. */
  async #pause(ms: number): Promise<boolean> {
    const woken = await this.inbox.pause(ms)
    if (this.#journal.state !== 'parked') this.inbox.heed()
    return woken
  }

  /** Where nothing is on its way: a run that is old, or whose history is long, goes on as a new one. */
  async #renew(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested && Date.now() - this.#born < waits.continueAsNewMs) return
    const input = { transfer: this.#transfer, progress: this.#journal.progress, unheeded: this.inbox.unheeded }
    await continueAsNew<(input: TransferInput) => Promise<TransferStatus>>(input)
  }

  get #intentId(): string {
    return `${this.#id}/${this.#journal.progress.round}`
  }

  get #label(): string {
    const { sourceChain, targetChain, sequence } = this.#transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }
}

/** Is it open whether the guardians signed this copy? What is halted was not even looked at. */
function unproven(admission: Admission): boolean {
  return admission.kind === 'rejected' || (admission.kind === 'waiting' && ['GUARDIAN_SET_UNKNOWN', 'HALTED'].includes(admission.code))
}
