import { backoffMs } from '../domain/backoff.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { TransferInput, TransferStatus } from '../temporal/messages.ts'
import type { Admission, BroadcastResult, Landed, Ready } from '../temporal/steps.ts'
import { Journal } from './journal.ts'
import { roundsBeforeParking, waits } from './policies.ts'
import { admit, broadcast, confirm, expedite, withdraw } from './steps.ts'
import { CancellationScope, condition, continueAsNew, isCancellation, workflowInfo } from '@temporalio/workflow'

/** The class of a transfer that an operator expedites. */
const firstClass = 1

/** A transfer on its way: what it has met so far, and what it does next. */
export class Way {
  over = false
  readonly #id = workflowInfo().workflowId
  readonly #journal: Journal
  #transfer: Transfer
  #adopted: string | undefined
  #cancelledBy: { operator: string; reason: string } | undefined
  #woken = false
  #avoid: LaneId[] = []
  #waits = 0
  /** Class in the lane's waiting room, 1 (first) … 5. */
  #priority = 3
  #scope = new CancellationScope()

  constructor(input: TransferInput) {
    this.#transfer = input.transfer
    this.#journal = new Journal(this.#id, input.progress)
  }

  status(): TransferStatus {
    return this.#journal.status(this.#transfer)
  }

  retry(): void {
    this.#journal.progress.failures = 0
    this.#waits = 0
    this.#woken = true
  }

  cancel(by: { operator: string; reason: string }): void {
    this.#cancelledBy = by
    this.#woken = true
  }

  adopt(message: unknown): void {
    if (typeof message !== 'string') return
    this.#adopted = message
    this.#woken = true
  }

  rolledBack(intentId: unknown): void {
    if (intentId === this.#intentId) this.#woken = true
  }

  expedite(): void {
    this.#priority = firstClass
    const { lane, state } = this.#journal.progress
    // A raise that comes too late, or finds no worker, changes nothing: the lane raises stuck fees by itself.
    if (lane && (state === 'broadcasting' || state === 'pending')) expedite(lane, this.#intentId).catch(() => {})
  }

  /** From step 1 to an outcome, or to a wait after which it starts again. */
  async walk(): Promise<void> {
    if (this.#cancelledBy) return this.#endCancelled()
    if (this.#journal.state === 'parked' && !this.#woken) return this.#stayParked()
    this.#woken = false
    if (this.#journal.state !== 'admitting') this.#journal.enter('admitting', `round ${this.#journal.progress.round}`)
    const candidate = this.#adopted
    this.#adopted = undefined
    const transfer = candidate === undefined ? this.#transfer : { ...this.#transfer, message: candidate }
    let admission: Admission
    try {
      admission = await admit({ transfer, avoid: this.#avoid }, this.#label)
    } catch (error) {
      if (isCancellation(error)) throw error
      return this.#park('INTERNAL', failureText(error))
    }
    // A better-signed copy is taken over once it passed; a worse one is forgotten, and the transfer's own message judged again.
    if (candidate !== undefined && admission.kind === 'rejected') return
    this.#transfer = transfer
    await this.#after(admission)
  }

  async #after(admission: Admission): Promise<void> {
    switch (admission.kind) {
      case 'ready':
        return this.#broadcast(admission)
      case 'delivered':
        this.#journal.delivered(admission.delivery)
        this.over = true
        return
      case 'unsettled':
        this.#journal.enter('included', 'by someone else; not final yet')
        return this.#settle(admission.finalInMs, undefined)
      case 'waiting':
        this.#journal.enter('waiting', admission.reason, admission)
        return this.#backOff(admission.retryInMs)
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

  /** Step 4 until the nonce has met its fate, or was never given. */
  async #broadcast(ready: Ready): Promise<void> {
    const { progress } = this.#journal
    progress.lane = ready.lane
    this.#journal.enter('broadcasting', `through ${ready.lane}`)
    this.#scope = new CancellationScope()
    void this.#watchForCancel(ready.lane, this.#intentId)
    for (let again = false; ; again = true) {
      if (this.#journal.state !== 'broadcasting') this.#journal.enter('broadcasting', 'following again')
      const result = await this.#broadcastOnce(ready, again)
      if (result === 'cancelled') return this.#endCancelled()
      switch (result.kind) {
        case 'delivered':
          return this.#endDelivered(result.landed, ready.lane)
        case 'included':
          progress.landed = result.landed
          this.#journal.enter('included', `block ${result.landed.blockHeight}, nonce ${result.landed.nonce}; not final yet`, {
            txHash: result.landed.txHash,
          })
          await this.#settle(result.finalInMs, ready.lane)
          if (this.over) return
          break
        case 'pending':
          this.#journal.holds(result.nonce)
          this.#journal.enter('pending', `nonce ${result.nonce}, ${result.attempts} attempts: ${result.reason}`)
          await this.#pause(waits.pendingMs)
          break
        case 'no-slot':
          if (!(await this.#left(ready.lane))) break
          this.#avoid = [ready.lane]
          this.#journal.enter('waiting', result.reason, result)
          return this.#backOff(result.retryInMs)
        case 'seen':
          return
        case 'withdrawn':
          if (this.#cancelledBy) await this.#untilFree(ready.lane)
          this.#nextRound()
          return
        case 'reverted':
        case 'spent':
          return this.#failed(result.kind === 'reverted' ? result.reason : `nonce ${result.nonce} was used by a ${result.by} transaction`)
      }
    }
  }

  #broadcastOnce(ready: Ready, again: boolean): Promise<BroadcastResult | 'cancelled'> {
    const { lane, callHash, gasLimit, maxFee, tip } = ready
    const input = {
      owner: this.#id,
      intentId: this.#intentId,
      lane,
      transfer: this.#transfer,
      callHash,
      gasLimit,
      maxFee,
      tip,
      again,
      priority: this.#priority,
    }
    return this.#scope.run(() => broadcast(input, this.#label)).catch((error: unknown) => this.#unserved(error, lane))
  }

  /** A cancel asks the ledger. Without a nonce nothing can be sent any more, and the wait for one ends; with one, its fate decides. */
  async #watchForCancel(lane: LaneId, intentId: string): Promise<void> {
    await condition(() => this.#cancelledBy !== undefined || this.over || this.#intentId !== intentId)
    if (!this.#cancelledBy || this.over || this.#intentId !== intentId) return
    const answer = await withdraw({ lane, intentId, how: 'cancel' })
    if (answer.kind === 'free') this.#scope.cancel()
  }

  /** A ledger that is younger than this transfer answers `held` as long as what an earlier one granted may still be mined. */
  async #untilFree(lane: LaneId): Promise<void> {
    while ((await withdraw({ lane, intentId: this.#intentId, how: 'cancel' })).kind === 'held') await this.#pause(waits.pendingMs)
  }

  /** `broadcast` itself failed. A cancelled one was cancelled here; otherwise no worker took it, or it can't work: ask the ledger. */
  async #unserved(error: unknown, lane: LaneId): Promise<BroadcastResult | 'cancelled'> {
    if (isCancellation(error) && this.#cancelledBy) return 'cancelled'
    if (isCancellation(error)) throw error
    const reason = failureText(error)
    const answer = await withdraw({ lane, intentId: this.#intentId, how: 'leave' })
    if (answer.kind === 'held') return { kind: 'pending', nonce: answer.nonce, attempts: 0, reason }
    this.#avoid = [lane]
    this.#journal.enter('waiting', reason, { code: 'LANE_UNREACHABLE', reason })
    return { kind: 'withdrawn' }
  }

  /** Waits until an included effect is final, or gone. With a lane of ours, gone means: back to `broadcast` with the same intent. */
  async #settle(finalInMs: number, lane: LaneId | undefined): Promise<void> {
    let waitMs = finalInMs
    for (;;) {
      if (waitMs > 0) await this.#pause(waitMs)
      const { landed } = this.#journal.progress
      const input = { transfer: this.#transfer, waitMs: waits.confirmMs, ...(lane && landed && { landed }) }
      const result = await confirm(input, this.#label)
      if (result.kind === 'delivered') {
        this.#journal.delivered(result.delivery)
        this.over = true
        return
      }
      if (result.kind === 'gone') {
        this.#journal.progress.landed = undefined
        return
      }
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
    const by = this.#cancelledBy
    this.#journal.enter('cancelled', `by ${by?.operator}: ${by?.reason}`, { reason: by?.reason ?? '' })
    this.over = true
  }

  async #failed(reason: string): Promise<void> {
    const { progress } = this.#journal
    progress.failures += 1
    progress.landed = undefined
    this.#nextRound()
    if (this.#cancelledBy) return
    if (progress.failures >= roundsBeforeParking) return this.#park('DELIVERY_REVERTED', reason)
    this.#journal.enter('waiting', reason, { code: 'DELIVERY_REVERTED', reason })
    await this.#pause(backoffMs(progress.failures - 1, waits.firstBackoffMs, waits.longestBackoffMs))
  }

  #nextRound(): void {
    this.#journal.progress.round += 1
    this.#journal.holds(undefined)
  }

  /** Did the lane let the intent go? The tombstone it leaves makes the next try another round. */
  async #left(lane: LaneId): Promise<boolean> {
    const answer = await withdraw({ lane, intentId: this.#intentId, how: 'leave' })
    if (answer.kind === 'held') return false
    this.#nextRound()
    return true
  }

  async #park(code: ErrorCode, reason: string): Promise<void> {
    this.#journal.enter('parked', reason, { code, reason })
  }

  /** Parked is still watched: once an hour the chain is asked whether someone delivered. */
  async #stayParked(): Promise<void> {
    if (await this.#pause(waits.continueAsNewMs)) return
    const result = await confirm({ transfer: this.#transfer, waitMs: 0 }, this.#label)
    if (result.kind !== 'delivered') return this.#continueAsNew()
    this.#journal.delivered(result.delivery)
    this.over = true
  }

  /** A wait for a closed gate: longer each time, ended early by `retry`. */
  async #backOff(atLeastMs: number): Promise<void> {
    const ms = Math.max(atLeastMs, backoffMs(this.#waits, waits.firstBackoffMs, waits.longestBackoffMs))
    this.#waits += 1
    await this.#pause(ms)
    this.#avoid = []
    if (workflowInfo().continueAsNewSuggested) await this.#continueAsNew()
  }

  /** True if something woke it before the time was over. */
  async #pause(ms: number): Promise<boolean> {
    const woken = this.#woken || (await condition(() => this.#woken, ms))
    if (this.#journal.state !== 'parked') this.#woken = false
    return woken
  }

  async #continueAsNew(): Promise<void> {
    await continueAsNew<(input: TransferInput) => Promise<TransferStatus>>({ transfer: this.#transfer, progress: this.#journal.progress })
  }

  get #intentId(): string {
    return `${this.#id}/${this.#journal.progress.round}`
  }

  get #label(): string {
    const { sourceChain, targetChain, sequence } = this.#transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }
}

function failureText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
