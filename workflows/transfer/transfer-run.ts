import { defined } from '../../domain/defined.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { type TimelineEntry, timelineOf } from '../../domain/transfer/timeline.ts'
import { dropAttempts, recordAttempts, rollBackAttempts, type SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { FailedCall, Landed, ReasonFacts, Waiting } from '../../temporal/contracts/transfer-steps.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, passesSoon } from '../../domain/catalogue/errors.ts'
import { type LaneId, intentIdOf } from '../../domain/lane/lane.ts'
import { type Order, withOrder } from '../../domain/order.ts'
import { durationText, summaryText, timeText } from '../../domain/text/web-ui-text.ts'
import { type Delivery, type Transfer, type TransferState, isOutcome, transitions } from '../../domain/transfer/transfer.ts'
import type { TransferProgress, TransferStatus, TransferInput, UnacknowledgedSignals } from '../../temporal/contracts/transfer.ts'
import { ordinaryPriority, waits } from '../policies.ts'
import { detailsOf } from './details.ts'
import { condition, log, makeContinueAsNewFunc, setCurrentDetails, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'

export type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'rejected' | 'declined'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: Order }

interface StateFacts extends ReasonFacts {
  readonly code?: ErrorCode
  readonly reason?: string
  readonly txHash?: string | undefined
  readonly at?: number | undefined
}

/** Maximum number of entries in the timeline. The first entry is kept, and the oldest of the others are dropped. */
const timelineLimit = 40
/** Clocks that differ by less (ms) count as equal, so that runs of earlier releases replay. */
const differentMs = 60_000

/**
 * The state of a transfer, and how it changes. A round has one intent: one call on one lane, with at most one nonce.
 */
export class TransferRun {
  transfer: Transfer
  readonly id = workflowInfo().workflowId
  readonly progress: TransferProgress
  readonly signals: UnacknowledgedSignals
  deadline: number | undefined
  readonly seenAt: number
  #outcome: Outcome | undefined
  #waitsFor: string | undefined
  readonly #startedAt = Date.now()

  constructor(input: TransferInput) {
    const { transfer, priority = ordinaryPriority, seenAt, orders, progress, unacknowledged } = input
    this.transfer = transfer
    this.progress = progress ?? { state: 'admitting', round: 1, failures: 0, spent: 0, waits: 0, timeline: [], ...(orders && { orders }) }
    this.signals = unacknowledged ?? { woken: false, priority }
    this.deadline = deadlineOf(input)
    this.seenAt = seenAt ?? workflowInfo().startTime.getTime()
    this.#waitsFor = progress?.state === 'waiting' ? progress.code : undefined
    if (progress) this.#show()
    else log.info('transfer started', this.#logIds)
    if (this.deadline !== undefined && !this.overdue) void this.#wakeAt(this.deadline)
  }

  get state(): TransferState {
    return this.progress.state
  }

  get intentId(): string {
    return intentIdOf(this.id, this.progress.round)
  }

  get label(): string {
    const { sourceChain, targetChain, sequence } = this.transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }

  get overdue(): boolean {
    return this.deadline !== undefined && Date.now() >= this.deadline
  }

  get ending(): boolean {
    return this.signals.cancelledBy !== undefined || this.overdue
  }

  get called(): boolean {
    return this.signals.woken || this.signals.cancelledBy !== undefined
  }

  /** Start of the run, ms since the epoch. Undefined once the transfer has waited or has been tried. */
  get freshSince(): number | undefined {
    const { round, waits: waited, timeline } = this.progress
    return round === 1 && waited === 0 && timeline.length === 0 ? workflowInfo().startTime.getTime() : undefined
  }

  get retriedAt(): number | undefined {
    return this.progress.orders?.findLast(({ kind }) => kind === 'retry')?.at
  }

  get cancelledAt(): number | undefined {
    return this.progress.orders?.findLast(({ kind }) => kind === 'cancel')?.at
  }

  status(): TransferStatus {
    const { message: _, ...transfer } = this.transfer
    const { state, lane, underway, code, reason, round: rounds, timeline, transactions, orders } = this.progress
    const { failedCall, feeLimit, shadowCall } = this.progress
    const { landed, nonce = landed?.nonce } = underway ?? {}
    const { txHash, attempts, tried, batch } = landed ?? {}
    const delivery = this.#outcome?.kind === 'delivered' ? this.#outcome.delivery : undefined
    const cancelledBy = this.#outcome?.kind === 'cancelled' ? this.#outcome.by : undefined
    const facts = { lane, nonce, txHash: delivery?.txHash ?? txHash, attempts, tried, batch, delivery, cancelledBy, code, reason, rounds }
    const all = timelineOf(timeline, transactions)
    return { id: this.id, transfer, state, ...facts, timeline: all, ...defined({ failedCall, feeLimit, shadowCall, transactions, orders }) }
  }

  enter(state: TransferState, note: string, facts: StateFacts = {}): void {
    const { progress } = this
    const before = progress.state
    if (before !== state && !transitions[before].includes(state)) throw new Error(`no transition from ${before} to ${state}`)
    progress.state = state
    progress.code = facts.code
    progress.reason = facts.reason
    const { failedCall, feeLimit, shadowCall } = facts
    Object.assign(progress, { failedCall, feeLimit, shadowCall })
    this.#add({ at: facts.at ?? Date.now(), state, note })
    this.#show()
    this.#logState(facts)
    this.#writeAttributes(before, facts)
  }

  park(code: ErrorCode, reason: string, failedCall?: FailedCall): undefined {
    this.enter('parked', reason, { code, reason, failedCall })
  }

  end(outcome: Outcome): TransferStatus {
    this.#outcome = outcome
    if (outcome.kind === 'delivered') {
      const { ours, by, txHash, blockHeight = '?' } = outcome.delivery
      this.enter('delivered', `final: by ${ours ? `our ${by}` : (by ?? 'someone else')} in block ${blockHeight}`, { txHash })
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

  /** @param onlyIfWaiting true if a gate has opened: a parked transfer then stays parked */
  retry(onlyIfWaiting: boolean): void {
    if (this.state === 'parked') {
      if (onlyIfWaiting) return
      if (this.overdue) this.deadline = undefined
    }
    Object.assign(this.progress, { failures: 0, spent: 0, waits: 0, quarantined: undefined })
    // A stranger may be able to open a gate, so only a person's retry allows more gas than was paid for.
    if (!onlyIfWaiting) this.progress.failedGas = undefined
    this.signals.woken = true
  }

  /** Returns true if a signal or the deadline ended the wait. `what`: reason of the wait, for the Web UI. */
  async pause(wantedMs: number, what: string): Promise<boolean> {
    const { signals } = this
    const ms = Math.min(wantedMs, waits.longestPauseMs)
    this.#show(Date.now() + ms)
    const summary = summaryText(`${what}; tries again in ${durationText(ms)}`)
    const woken = signals.woken || (await condition(() => signals.woken, ms, { summary }))
    if (this.state !== 'parked') signals.woken = false
    return woken
  }

  record(lane: LaneId, { nonce, tried = [] }: { nonce: number; tried?: readonly SignedAttempt[] }, landed?: Landed): void {
    const { transactions = [], round } = this.progress
    if (tried.length === 0) return
    this.progress.transactions = recordAttempts(transactions, { lane, nonce, round, at: Date.now(), tried, ...(landed && { landed }) })
  }

  rollBack(): void {
    const { transactions, round } = this.progress
    if (transactions) this.progress.transactions = rollBackAttempts(transactions, round, Date.now())
  }

  /** Adds to the timeline that the call was in a block. A transfer state for that would cost a state transition. */
  passInclusion({ blockHeight, nonce, ...landed }: Landed): void {
    this.#add({ at: includedAt(landed) ?? Date.now(), state: 'included', note: `block ${blockHeight}, nonce ${nonce}` })
  }

  /** Ends the work on a lane. `left` keeps the lane with the highest nonce that the transfer held there. */
  stopFollowing(): void {
    const { underway, left = [], transactions, round } = this.progress
    this.progress.underway = undefined
    if (!underway) return
    if (transactions) this.progress.transactions = dropAttempts(transactions, round)
    const { lane } = underway.ready
    const nonces = [underway.nonce, left.find((one) => one.lane === lane)?.nonce].filter((nonce) => nonce !== undefined)
    const highest = nonces.length > 0 ? { nonce: Math.max(...nonces) } : {}
    this.progress.left = [...left.filter((one) => one.lane !== lane), { lane, ...highest }]
  }

  /**
   * Begins the next round after the final call of a stage. Failures and waits are counted from 0 again. The gas of
   * reverted calls is kept, because a paid request pays once for all its calls.
   */
  passStage(stage = '', { txHash, blockHeight }: Partial<Pick<Landed, 'txHash' | 'blockHeight'>>): undefined {
    this.nextRound()
    Object.assign(this.progress, { failures: 0, spent: 0, waits: 0 })
    this.enter('admitting', `stage ${stage} is final${blockHeight === undefined ? '' : ` in block ${blockHeight}`}`, { txHash })
  }

  nextRound(): void {
    this.stopFollowing()
    this.progress.round += 1
  }

  get isDue(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.#startedAt >= waits.continueAsNewMs
  }

  /** Call this only while no activity runs. */
  async continueAsNew(): Promise<void> {
    const { transfer, progress, signals: unacknowledged, deadline, seenAt } = this
    // A run keeps its worker version, and the next run takes the current one, so no version has to run for months.
    const next = makeContinueAsNewFunc<(input: TransferInput) => Promise<TransferStatus>>({ initialVersioningBehavior: 'AUTO_UPGRADE' })
    await next({ transfer, progress, unacknowledged, deadline, seenAt })
  }

  #add(entry: TimelineEntry): void {
    const { timeline } = this.progress
    timeline.push(entry)
    if (timeline.length > timelineLimit) timeline.splice(1, 1)
  }

  #show(nextTryAt?: number): void {
    setCurrentDetails(detailsOf(this.transfer, this.progress, nextTryAt, workflowInfo()))
  }

  get #logIds(): Readonly<Record<string, string>> {
    const { bridge, sourceChain, targetChain, sequence } = this.transfer
    return { transfer: this.id, bridge, source: sourceChain, target: targetChain, sequence }
  }

  /** Logs only the states that people search for. The SDK's log adds no command, and is silent during a replay. */
  #logState({ code, reason, txHash }: StateFacts): void {
    const { state, lane } = this.progress
    const about = defined({ ...this.#logIds, lane, code, reason: reason || undefined, txHash })
    if (state === 'parked') log.warn('transfer parked', about)
    else if (isOutcome(state)) log.info(`transfer ${state}`, { ...about, tookMs: Date.now() - this.seenAt })
    else if (state === 'waiting' && this.#waitsFor !== code) log.info('transfer waits', about)
    if (state === 'waiting') this.#waitsFor = code
    else if (state === 'broadcasting' || state === 'parked') this.#waitsFor = undefined
  }

  /** Writes only changes, because each write costs a state transition. */
  #writeAttributes(before: TransferState, { code, txHash }: StateFacts): void {
    const { state, lane } = this.progress
    const { TransferState, PortageCode, Lane, TxHash } = searchAttributes
    const isOtherCode = workflowInfo().typedSearchAttributes.get(PortageCode) !== code
    if (before === state && !txHash && !isOtherCode) return
    upsertSearchAttributes([
      { key: TransferState, value: state },
      ...(isOtherCode ? [{ key: PortageCode, value: code ?? null }] : []),
      ...(state === 'broadcasting' && lane ? [{ key: Lane, value: lane }] : []),
      ...(txHash ? [{ key: TxHash, value: txHash }] : []),
    ])
  }

  async #wakeAt(deadline: number): Promise<void> {
    const summary = `deadline ${timeText(deadline)}: the transfer is parked if it is not delivered by then`
    try {
      while (Date.now() < deadline) await sleep(deadline - Date.now(), { summary })
      // A parked transfer waits for an operator even past its deadline.
      if (this.overdue && this.state !== 'parked') this.signals.woken = true
    } catch {
      // Temporal has cancelled the workflow, and the cancel has woken the run already.
    }
  }
}

/**
 * The deadline as the starting process has computed it. If the clock of that process differs a lot from Temporal's, the
 * deadline is `withinMs` after the start by Temporal's clock.
 */
function deadlineOf({ deadline, withinMs }: TransferInput): number | undefined {
  if (deadline === undefined || withinMs === undefined) return deadline
  const own = workflowInfo().startTime.getTime() + withinMs
  return Math.abs(own - deadline) > differentMs ? own : deadline
}

export function includedAt({ txHash, tried }: Pick<Landed, 'txHash' | 'tried'>): number | undefined {
  return tried.find(({ hash }) => hash === txHash)?.includedAt
}

/** The reason that the last lane gave when the transfer left it is more precise than that no lane takes work. */
export function whyOf(
  { code, reason, failedCall, feeLimit, shadowCall }: Omit<Waiting, 'kind' | 'retryInMs'>,
  turnedAway: TransferProgress['turnedAway'],
): Pick<Waiting, 'code' | 'reason'> & ReasonFacts {
  if (turnedAway && code === 'LANE_NONE') return { code: turnedAway.code, reason: turnedAway.reason }
  // The code stays, because a transfer that may use only one lane leaves the window of its stream.
  if (turnedAway && code === 'LANE_CHOSEN') return { code, reason: `${reason}; ${turnedAway.reason}` }
  return { code, reason, failedCall, feeLimit, shadowCall }
}

export async function wait(run: TransferRun, waiting: Waiting): Promise<undefined> {
  const { progress } = run
  const { code, retryInMs } = waiting
  const why = whyOf(waiting, progress.turnedAway)
  run.enter('waiting', why.reason, why)
  const longestMs = passesSoon(code) ? waits.longestLaneBackoffMs : waits.longestBackoffMs
  await run.pause(Math.max(retryInMs, backoffMs(progress.waits++, waits.firstBackoffMs, longestMs)), `${why.code}: ${why.reason}`)
  progress.turnedAway = undefined
}
