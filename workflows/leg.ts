import type { Transfer } from '../domain/transfer.ts'
import type { BroadcastResult, Ready } from '../temporal/steps.ts'
import { failureText } from './failures.ts'
import type { Inbox } from './inbox.ts'
import { waits } from './policies.ts'
import { broadcast, withdraw } from './steps.ts'
import { CancellationScope, condition, isCancellation, TemporalFailure } from '@temporalio/workflow'

/** What one `broadcast` came to. `unserved`: no worker took it, or it can't work, and the ledger has let the intent go. */
export type LegResult = BroadcastResult | { kind: 'cancelled' } | { kind: 'unserved'; reason: string }

/** One intent on one lane: its tries to be broadcast, and its leave. */
export class Leg {
  /** Set when the transfer has gone on: a cancel then concerns another leg, or none. */
  over = false
  readonly ready: Ready
  readonly #owner: string
  readonly #intentId: string
  readonly #inbox: Inbox
  readonly #scope = new CancellationScope()

  constructor(ready: Ready, intent: { owner: string; intentId: string }, inbox: Inbox) {
    this.ready = ready
    this.#owner = intent.owner
    this.#intentId = intent.intentId
    this.#inbox = inbox
    void this.#watchForCancel()
  }

  /** Step 4, once. `again`: the intent may hold a nonce already. */
  async broadcast(transfer: Transfer, again: boolean, label: string): Promise<LegResult> {
    const { lane, callHash, gasLimit, maxFee, tip } = this.ready
    const intent = { owner: this.#owner, intentId: this.#intentId, lane, transfer, callHash, gasLimit, maxFee, tip }
    try {
      return await this.#scope.run(() => broadcast({ ...intent, again, priority: this.#inbox.priority }, label))
    } catch (error) {
      if (isCancellation(error) && this.#inbox.cancelledBy) return { kind: 'cancelled' }
      if (isCancellation(error)) throw error
      const reason = failureText(error)
      const answer = await this.#withdraw('leave')
      return answer.kind === 'held' ? { kind: 'pending', nonce: answer.nonce, attempts: 0, reason } : { kind: 'unserved', reason }
    }
  }

  /** Did the lane let the intent go? The tombstone it leaves makes the next try another round. */
  async leave(): Promise<boolean> {
    return (await this.#withdraw('leave')).kind === 'free'
  }

  /** A ledger that is younger than this transfer answers `held` as long as what an earlier one granted may still be mined. */
  async untilFree(pause: (ms: number) => Promise<unknown>): Promise<void> {
    while ((await this.#withdraw('cancel')).kind === 'held') await pause(waits.pendingMs)
  }

  /** A cancel asks the ledger. Without a nonce nothing can be sent any more, and the wait for one ends; with one, its fate decides. */
  async #watchForCancel(): Promise<void> {
    try {
      await condition(() => this.#inbox.cancelledBy !== undefined || this.over)
      if (this.over) return
      if ((await this.#withdraw('cancel')).kind === 'free') this.#scope.cancel()
    } catch (error) {
      // The workflow itself was cancelled, or the lane can't be asked: whoever waits for `broadcast` meets the same.
      if (!(error instanceof TemporalFailure)) throw error
    }
  }

  #withdraw(how: 'leave' | 'cancel') {
    return withdraw({ lane: this.ready.lane, intentId: this.#intentId, how })
  }
}
