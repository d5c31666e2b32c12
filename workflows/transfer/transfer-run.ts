import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { intentIdOf } from '../../domain/lane/intent-id.ts'
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
  /** ms since the epoch. Undefined: no deadline, or an operator lifted it. */
  deadline: number | undefined
  /** When its message was seen, ms since the epoch; without that, when the run began. Only metrics use it. */
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

  /** Names the transfer in the summaries of its steps. */
  get label(): string {
    const { sourceChain, targetChain, sequence } = this.transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }

  get overdue(): boolean {
    return this.deadline !== undefined && Date.now() >= this.deadline
  }

  /** The transfer is to end or to be parked as soon as none of its nonces can be mined. */
  get ending(): boolean {
    return this.signals.cancelledBy !== undefined || this.overdue
  }

  /** A signal asks for a try now. */
  get called(): boolean {
    return this.signals.woken || this.signals.cancelledBy !== undefined
  }

  /** When the workflow began, ms since the epoch. Undefined once it has waited or tried. */
  get freshSince(): number | undefined {
    const { round, waits: waited, timeline } = this.progress
    return round === 1 && waited === 0 && timeline.length === 0 ? workflowInfo().startTime.getTime() : undefined
  }

  /** When an operator last ordered a retry, ms since the epoch. */
  get retriedAt(): number | undefined {
    return this.progress.orders?.findLast(({ kind }) => kind === 'retry')?.at
  }

  status(): TransferStatus {
    return statusOf(this.id, this.transfer, this.progress, this.#outcome)
  }

  /** Moves to a state, and shows it in timeline, details, log and search attributes. */
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

  /** Enters `admitting` for a try that begins at step 1, or out of `parked`. */
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

  /** Records an operator's order. */
  note(kind: 'retry' | 'cancel' | 'expedite' | 'adopt', order: Order): void {
    this.progress.orders = withOrder(this.progress.orders, { kind, ...order, at: Date.now() })
    this.#show()
  }

  cancel(order: Order): void {
    this.signals.cancelledBy = order
    this.signals.woken = true
    this.note('cancel', order)
  }

  /** Wakes the transfer. @param onlyIfWaiting a gate has opened: a parked transfer stays parked */
  retry(onlyIfWaiting: boolean): void {
    if (this.state === 'parked') {
      if (onlyIfWaiting) return
      if (this.overdue) this.deadline = undefined
    }
    Object.assign(this.progress, { failures: 0, spent: 0, waits: 0 })
    this.signals.woken = true
  }

  /** Waits `ms`. A signal or the deadline ends the wait early: then true. @param what the reason, for the Web UI */
  async pause(ms: number, what: string): Promise<boolean> {
    const { signals } = this
    this.#show(Date.now() + ms)
    const summary = summaryText(`${what}; tries again in ${durationText(ms)}`)
    const woken = signals.woken || (await condition(() => signals.woken, ms, { summary }))
    if (this.state !== 'parked') signals.woken = false
    return woken
  }

  /** The run is old or its history is long: continue as new at the next occasion. */
  get isDue(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.#startedAt >= waits.continueAsNewMs
  }

  /** Call it only while no activity runs. */
  async continueAsNew(): Promise<void> {
    const { transfer, progress, signals: unacknowledged, deadline, seenAt } = this
    // A versioned worker keeps a transfer until here. The next run takes the current version, so that no version lives
    // for months.
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
