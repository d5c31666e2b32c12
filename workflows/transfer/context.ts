import type { ErrorCode } from '../../domain/errors.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { TransferInput, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { PendingSignals } from './pending-signals.ts'
import { StatusWriter } from './status-writer.ts'
import { waits } from '../policies.ts'
import { continueAsNew, workflowInfo } from '@temporalio/workflow'

/** What all parts of a transfer's way share: who it is, what it has met so far, how it waits, and how it goes on in a new run. */
export class TransferContext {
  /** It has come to an outcome. */
  over = false
  transfer: Transfer
  readonly id = workflowInfo().workflowId
  readonly inbox: PendingSignals
  readonly journal: StatusWriter
  readonly #born = Date.now()
  #deadline: number | undefined

  constructor(input: TransferInput) {
    this.transfer = input.transfer
    this.journal = new StatusWriter(this.id, input.transfer.bridge, input.progress)
    this.inbox = new PendingSignals(input)
    this.#deadline = input.deadline
  }

  get progress(): TransferProgress {
    return this.journal.progress
  }

  get intentId(): string {
    return `${this.id}/${this.progress.round}`
  }

  get label(): string {
    const { sourceChain, targetChain, sequence } = this.transfer
    return `${sourceChain} → ${targetChain} #${sequence}`
  }

  /** ms since the epoch; absent: none, or no longer. */
  get deadline(): number | undefined {
    return this.#deadline
  }

  get overdue(): boolean {
    return this.#deadline !== undefined && Date.now() >= this.#deadline
  }

  /** It is to end, or to stop, as soon as nothing of it is on its way. */
  get ending(): boolean {
    return this.inbox.cancelledBy !== undefined || this.overdue
  }

  /** An operator wants it delivered all the same. */
  liftDeadline(): void {
    this.#deadline = undefined
  }

  delivered(delivery: Delivery): void {
    this.journal.delivered(delivery)
    this.over = true
  }

  park(code: ErrorCode, reason: string): void {
    this.journal.enter('parked', reason, { code, reason })
  }

  /** What was tried is done with: the next try is another intent. */
  nextRound(): void {
    this.progress.round += 1
    this.journal.holds(undefined)
  }

  /** True if something woke it before the time, ms, was over. The deadline ends it sooner. */
  async pause(ms: number): Promise<boolean> {
    const parked = this.journal.state === 'parked'
    const left = parked || this.overdue ? undefined : this.#deadline
    const woken = await this.inbox.pause(left === undefined ? ms : Math.min(ms, left - Date.now()))
    if (this.journal.state !== 'parked') this.inbox.acknowledge()
    return woken
  }

  /** Where nothing is on its way: a run that is old, or whose history is long, goes on as a new one. */
  async renew(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested && Date.now() - this.#born < waits.continueAsNewMs) return
    const deadline = this.#deadline === undefined ? {} : { deadline: this.#deadline }
    const input = { transfer: this.transfer, progress: this.progress, unacknowledged: this.inbox.unacknowledged, ...deadline }
    await continueAsNew<(input: TransferInput) => Promise<TransferStatus>>(input)
  }
}
