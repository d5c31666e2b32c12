import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { intentIdOf } from '../../domain/lane/lane.ts'
import { type Order, withOrder } from '../../domain/order.ts'
import { durationText, summaryText, timeText } from '../../domain/text/web-ui-text.ts'
import { type Transfer, type TransferState, transitions } from '../../domain/transfer/transfer.ts'
import type { TransferInput, TransferProgress, TransferStatus, UnacknowledgedSignals } from '../../temporal/contracts/transfer.ts'
import { ordinaryPriority, waits } from '../policies.ts'
import { showTransfer } from './details.ts'
import { TransferLog } from './log.ts'
import { addToTimeline, type Outcome, type StateFacts, statusOf, writeAttributes } from './status.ts'
import { condition, makeContinueAsNewFunc, sleep, workflowInfo } from '@temporalio/workflow'

/** The state that all steps of a transfer share. */
export class TransferRun {
  transfer: Transfer
  readonly id = workflowInfo().workflowId
  readonly progress: TransferProgress
  readonly signals: UnacknowledgedSignals
  /** ms since the epoch. Undefined: none, or lifted by an operator. */
  deadline: number | undefined
  /** ms since the epoch, for metrics; by default when the run began. */
  readonly seenAt: number
  #outcome: Outcome | undefined
  readonly #log: TransferLog
  readonly #startedAt = Date.now()

  constructor({ transfer, priority = ordinaryPriority, deadline, seenAt, orders, progress, unacknowledged }: TransferInput) {
    this.transfer = transfer
    this.progress = progress ?? { state: 'admitting', round: 1, failures: 0, spent: 0, waits: 0, timeline: [], ...(orders && { orders }) }
    this.signals = unacknowledged ?? { woken: false, priority }
    this.deadline = deadline
    this.seenAt = seenAt ?? workflowInfo().startTime.getTime()
    this.#log = new TransferLog(this.id, transfer, progress)
    if (progress) this.#show()
    if (deadline !== undefined && !this.overdue) void this.#wakeAt(deadline)
  }

  get state(): TransferState {
    return this.progress.state
  }

  get intentId(): string {
    return intentIdOf(this.id, this.progress.round)
  }

  /** For the summaries of its steps. */
  get label(): string {
    const { sourceChain, targetChain, sequence } = this.transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }

  get overdue(): boolean {
    return this.deadline !== undefined && Date.now() >= this.deadline
  }

  /** It ends or parks as soon as none of its nonces can be mined. */
  get ending(): boolean {
    return this.signals.cancelledBy !== undefined || this.overdue
  }

  get called(): boolean {
    return this.signals.woken || this.signals.cancelledBy !== undefined
  }

  /** ms since the epoch. Undefined once it has waited or tried. */
  get freshSince(): number | undefined {
    const { round, waits: waited, timeline } = this.progress
    return round === 1 && waited === 0 && timeline.length === 0 ? workflowInfo().startTime.getTime() : undefined
  }

  /** ms since the epoch. */
  get retriedAt(): number | undefined {
    return this.progress.orders?.findLast(({ kind }) => kind === 'retry')?.at
  }

  status(): TransferStatus {
    return statusOf(this.id, this.transfer, this.progress, this.#outcome)
  }

  /** Shows it in timeline, details, log and search attributes. */
  enter(state: TransferState, note: string, facts: StateFacts = {}): void {
    const { progress } = this
    const before = progress.state
    if (before !== state && !transitions[before].includes(state)) throw new Error(`no transition from ${before} to ${state}`)
    progress.state = state
    progress.code = facts.code
    progress.reason = facts.reason
    addToTimeline(progress.timeline, { at: Date.now(), state, note })
    this.#show()
    this.#log.entered(state, { ...facts, lane: progress.lane, tookMs: Date.now() - this.seenAt })
    writeAttributes(before, progress, facts)
  }

  /** Begins at step 1, or leaves `parked`. */
  enterTry(): void {
    const { state, underway, round } = this.progress
    if (state === 'parked' || (state !== 'admitting' && !underway)) this.enter('admitting', `round ${round}`)
  }

  park(code: ErrorCode, reason: string): undefined {
    this.enter('parked', reason, { code, reason })
  }

  end(outcome: Outcome): TransferStatus {
    this.#outcome = outcome
    if (outcome.kind === 'delivered') {
      const { ours, by, txHash, blockHeight = '?' } = outcome.delivery
      this.enter('delivered', `by ${ours ? `our ${by}` : (by ?? 'someone else')} in block ${blockHeight}`, { txHash })
    } else if (outcome.kind === 'cancelled') {
      const { by, reason } = outcome.by
      this.enter('cancelled', `by ${by}: ${reason}`, { reason })
    } else {
      this.enter(outcome.kind, outcome.reason, outcome)
    }
    return this.status()
  }

  note(kind: 'retry' | 'cancel' | 'expedite' | 'adopt', order: Order): void {
    this.progress.orders = withOrder(this.progress.orders, { kind, ...order, at: Date.now() })
    this.#show()
  }

  cancel(order: Order): void {
    this.signals.cancelledBy = order
    this.signals.woken = true
    this.note('cancel', order)
  }

  /** `onlyIfWaiting`: a gate has opened, and a parked transfer stays parked. */
  retry(onlyIfWaiting: boolean): void {
    if (this.state === 'parked') {
      if (onlyIfWaiting) return
      if (this.overdue) this.deadline = undefined
    }
    Object.assign(this.progress, { failures: 0, spent: 0, waits: 0 })
    this.signals.woken = true
  }

  /** True: a signal or the deadline ended the wait. `what`: for the Web UI. */
  async pause(ms: number, what: string): Promise<boolean> {
    const { signals } = this
    this.#show(Date.now() + ms)
    const summary = summaryText(`${what}; tries again in ${durationText(ms)}`)
    const woken = signals.woken || (await condition(() => signals.woken, ms, { summary }))
    if (this.state !== 'parked') signals.woken = false
    return woken
  }

  /** The run is old or its history is long. */
  get isDue(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.#startedAt >= waits.continueAsNewMs
  }

  /** Call it only while no activity runs. */
  async continueAsNew(): Promise<void> {
    const { transfer, progress, signals: unacknowledged, deadline, seenAt } = this
    // A versioned worker keeps a transfer until here, so that no version lives for months.
    const next = makeContinueAsNewFunc<(input: TransferInput) => Promise<TransferStatus>>({ initialVersioningBehavior: 'AUTO_UPGRADE' })
    await next({ transfer, progress, unacknowledged, deadline, seenAt })
  }

  #show(nextTryAt?: number): void {
    showTransfer(this.transfer, this.progress, nextTryAt)
  }

  async #wakeAt(deadline: number): Promise<void> {
    const summary = `deadline ${timeText(deadline)}: the transfer is parked if it is not delivered by then`
    try {
      while (Date.now() < deadline) await sleep(deadline - Date.now(), { summary })
      // A parked transfer waits for an operator, whatever the deadline.
      if (this.overdue && this.state !== 'parked') this.signals.woken = true
    } catch {
      // The workflow was cancelled, which woke it already.
    }
  }
}
