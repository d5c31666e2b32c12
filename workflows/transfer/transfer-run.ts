import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { type Order, orderOf, withOrder } from '../../domain/order.ts'
import { intentIdOf } from '../../domain/lane/intent-id.ts'
import { giveUp, hearOf, rollBack } from '../../domain/transfer/attempts.ts'
import { durationText, summaryText, timeText } from '../../domain/text/web-ui-text.ts'
import { type Transfer, type TransferState, transitions } from '../../domain/transfer/transfer.ts'
import { codesMemo, searchAttributes } from '../../temporal/contracts/names.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { AttemptRecord, Landed } from '../../temporal/contracts/transfer-steps.ts'
import type { TransferInput, TransferProgress, TransferStatus, UnacknowledgedSignals } from '../../temporal/contracts/transfer.ts'
import { endsByNoncesPatch, ordinaryPriority, waits } from '../policies.ts'
import { showTransfer } from './details.ts'
import { TransferLog } from './log.ts'
import { addToTimeline, type Outcome, statusOf } from './status.ts'
import { condition, makeContinueAsNewFunc, patched, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'

/** What all steps of a transfer share: its message, its progress, the signals that it has not acted upon, how it waits and goes on in a new run. */
export class TransferRun {
  transfer: Transfer
  readonly id = workflowInfo().workflowId
  readonly progress: TransferProgress
  readonly signals: UnacknowledgedSignals
  /** ms since the epoch; undefined: none, or no longer. */
  deadline: number | undefined
  /** When its message was seen, or else when the run began: for the times that metrics show. */
  readonly seenAt: number
  readonly #endsByNonces: boolean
  #outcome: Outcome | undefined
  readonly #log: TransferLog
  readonly #startedAt = Date.now()

  constructor(input: TransferInput) {
    const { transfer, priority = ordinaryPriority, deadline, seenAt, orders, progress, unacknowledged, endsByNonces = false } = input
    this.transfer = transfer
    this.#endsByNonces = endsByNonces
    this.progress = progress ?? { state: 'admitting', round: 1, failures: 0, spent: 0, waits: 0, timeline: [], ...(orders && { orders }) }
    this.signals = unacknowledged ?? { woken: false, priority }
    const { cancelledBy } = this.signals
    if (cancelledBy) this.signals.cancelledBy = orderOf(cancelledBy)
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

  /** It ends, or is parked, as soon as nothing of it can be mined any more. */
  get ending(): boolean {
    return this.signals.cancelledBy !== undefined || this.overdue
  }

  /** Does it end undelivered only once all nonces that it ever held are final? Asked where it would end, and nowhere else: what asks may record the patch. */
  get endsByNonces(): boolean {
    if (!this.#endsByNonces) return patched(endsByNoncesPatch)
    // A worker of a release before may have recorded the patch in this run.
    if (workflowInfo().unsafe.isReplaying) patched(endsByNoncesPatch)
    return true
  }

  /** A signal asks for the next try now. */
  get called(): boolean {
    return this.signals.woken || this.signals.cancelledBy !== undefined
  }

  /** When the workflow began, ms since the epoch, as long as it has neither waited nor tried before. */
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

  /** Moves to a state. Search attributes are written only when it changes, since each write costs a state transition. */
  enter(state: TransferState, note: string, facts: { code?: ErrorCode; reason?: string; txHash?: string | undefined } = {}): void {
    const { progress } = this
    const before = progress.state
    if (before !== state && !transitions[before].includes(state)) throw new Error(`no transition from ${before} to ${state}`)
    progress.state = state
    progress.code = facts.code
    progress.reason = facts.reason
    addToTimeline(progress.timeline, { at: Date.now(), state, note })
    this.#show()
    this.#log.entered(state, { ...facts, lane: progress.lane, tookMs: Date.now() - this.seenAt })
    const changedCode = changeOfCode(facts.code)
    if (before === state && !facts.txHash && changedCode.length === 0) return
    upsertSearchAttributes([
      { key: searchAttributes.TransferState, value: state },
      ...changedCode,
      ...(state === 'broadcasting' && progress.lane ? [{ key: searchAttributes.Lane, value: progress.lane }] : []),
      ...(facts.txHash ? [{ key: searchAttributes.TxHash, value: facts.txHash }] : []),
    ])
  }

  /** The state of a try that begins at step 1, or that an operator took out of `parked`. */
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

  /** Keeps what a step says of the transactions of this round. */
  heard(lane: LaneId, nonce: number, tried: readonly AttemptRecord[] = [], landed?: Landed): void {
    const { transactions = [], round } = this.progress
    if (tried.length > 0)
      this.progress.transactions = hearOf(transactions, { lane, nonce, round, at: Date.now(), tried, ...(landed && { landed }) })
  }

  /** Our transaction fell out of its block. */
  rolledBack(): void {
    const { transactions, round } = this.progress
    if (transactions) this.progress.transactions = rollBack(transactions, round)
  }

  /** The intent is not followed any more. Its lane is kept, with the nonce that it is known to have held there. */
  stopFollowing(nonce = this.progress.underway?.nonce): void {
    const { underway, left = [] } = this.progress
    this.progress.underway = undefined
    if (!underway) return
    const { transactions, round } = this.progress
    if (transactions) this.progress.transactions = giveUp(transactions, round)
    const { lane } = underway.ready
    const known = left.find((one) => one.lane === lane)?.nonce
    const highest = nonce === undefined || known === undefined ? (nonce ?? known) : Math.max(nonce, known)
    this.progress.left = [...left.filter((one) => one.lane !== lane), { lane, ...(highest !== undefined && { nonce: highest }) }]
  }

  /** Whatever this round's intent held is used up, or left to its lane: the next try is another intent. */
  nextRound(nonce?: number): void {
    this.stopFollowing(nonce)
    this.progress.round += 1
  }

  /** Keeps who ordered something, and why. */
  note(kind: 'retry' | 'cancel' | 'expedite' | 'adopt', order: Order): void {
    this.progress.orders = withOrder(this.progress.orders, { kind, ...order, at: Date.now() })
    this.#show()
  }

  /** An operator ends it: once nothing of it can be mined. */
  cancel(order: Order): void {
    this.signals.cancelledBy = order
    this.signals.woken = true
    this.note('cancel', order)
  }

  /** An operator's word, or that of its gate (`onlyIfWaiting`: it has opened, which ends a wait and nothing else). */
  retry(onlyIfWaiting: boolean): void {
    if (this.state === 'parked') {
      if (onlyIfWaiting) return
      if (this.overdue) this.deadline = undefined
    }
    Object.assign(this.progress, { failures: 0, spent: 0, waits: 0 })
    this.signals.woken = true
  }

  /** Waits `ms` unless a signal, or the deadline, ends the wait. True if one did. @param what it waits for, for the Web UI */
  async pause(ms: number, what: string): Promise<boolean> {
    const { signals } = this
    this.#show(Date.now() + ms)
    const summary = summaryText(`${what}; looks again in ${durationText(ms)}`)
    const woken = signals.woken || (await condition(() => signals.woken, ms, { summary }))
    if (this.state !== 'parked') signals.woken = false
    return woken
  }

  /** The run is old, or its history is long. */
  get isDue(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.#startedAt >= waits.continueAsNewMs
  }

  /** Goes on as a new run. Called only where no activity is under way. */
  async continueAsNew(): Promise<void> {
    const { transfer, progress, signals: unacknowledged, deadline, seenAt } = this
    // Where workers have versions, a transfer stays with one until here: the next run begins with the current one, so that no version lives for months.
    const goOn = makeContinueAsNewFunc<(input: TransferInput) => Promise<TransferStatus>>({ initialVersioningBehavior: 'AUTO_UPGRADE' })
    await goOn({ transfer, progress, unacknowledged, deadline, seenAt, endsByNonces: true })
  }

  #show(nextLook?: number): void {
    showTransfer(this.transfer, this.progress, nextLook)
  }

  async #wakeAt(deadline: number): Promise<void> {
    const summary = `deadline ${timeText(deadline)}: what is not delivered by then is parked`
    try {
      while (Date.now() < deadline) await sleep(deadline - Date.now(), { summary })
      // What is parked waits for an operator, deadline or not.
      if (this.overdue && this.state !== 'parked') this.signals.woken = true
    } catch {
      // The workflow was cancelled: all that waits in it was told.
    }
  }
}

/** What makes the attribute of the code show this one; nothing where it does already, as it does on the way of a transfer that never waits. */
function changeOfCode(code: ErrorCode | undefined) {
  const key = searchAttributes.PortageCode
  const { typedSearchAttributes, memo } = workflowInfo()
  if (typedSearchAttributes.get(key) === code || memo?.[codesMemo] !== true) return []
  return [{ key, value: code ?? null }]
}
