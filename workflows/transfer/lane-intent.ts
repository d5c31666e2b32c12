import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { type LaneStatus, refusalCodes } from '../../domain/lane/messages.ts'
import type { BroadcastInput, BroadcastMode, BroadcastResult, Ready, Withdrawal } from '../../temporal/contracts/transfer-steps.ts'
import { codeOf, failureText, timedOutInQueue } from '../failures.ts'
import { waits } from '../policies.ts'
import * as steps from './steps.ts'
import type { TransferRun } from './transfer-run.ts'
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow'

/** `cancelled`: to end. `unserved`: the lane cannot work. Both withdraw the intent. */
type LaneIntentResult =
  | BroadcastResult
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unserved'; readonly code: ErrorCode; readonly reason: string }

/** Broadcasts, follows and withdraws one intent on one lane. */
export class LaneIntent {
  readonly ready: Ready
  readonly #run: TransferRun
  readonly #intentId: string
  #withdrawing = false
  #withdrawn = false
  /** This run knows that no worker serves the lane, ms since the epoch. */
  #strandedSince: number | undefined

  constructor(run: TransferRun, ready: Ready) {
    this.ready = ready
    this.#run = run
    this.#intentId = run.intentId
  }

  async broadcast(follow: boolean): Promise<LaneIntentResult> {
    for (let mode: BroadcastMode = follow ? 'follow' : 'new'; ; mode = follow ? 'follow' : 'requeued') {
      try {
        return await this.#broadcastUnlessWithdrawn(mode)
      } catch (error) {
        if (isCancellation(error)) throw error
        const status = timedOutInQueue(error) ? await this.#laneStatus() : undefined
        if (!status?.lane.open) return this.#unserved(error, status?.lane)
        if (this.#run.isDue) await this.#run.continueAsNew()
      }
    }
  }

  /** Once. For a held nonce the lane sends a no-op; the broadcast goes on until either is mined. */
  startWithdrawal(): void {
    if (this.#withdrawing) return
    this.#withdrawing = true
    this.#withdraw('cancel').then(
      ({ kind }) => void (this.#withdrawn = kind === 'free'),
      // The broadcast fails for the same reason.
      () => {},
    )
  }

  /** Leaves a nonce to a lane that cannot work. A cancelled transfer stays until none of its nonces can be mined. */
  async abandon(): Promise<{ code: ErrorCode; reason: string } | undefined> {
    const status = await this.#laneStatus()
    if (!status) return undefined
    const { open, why, detail } = status.lane
    if (open || (why !== 'forbidden' && why !== 'unserved' && why !== 'replaced')) {
      this.#strandedSince = undefined
      return undefined
    }
    this.#strandedSince ??= Date.now()
    const early = Date.now() - this.#strandedSince < status.abandonAfterMs
    if (early || this.#run.signals.cancelledBy || (status.others === 0 && !this.#run.overdue)) return undefined
    if ((await this.#withdraw('abandon')).kind === 'held') return undefined
    return { code: refusalCodes[why], reason: `${this.ready.lane} is ${why}${detail ? `: ${detail}` : ''}` }
  }

  /** True: it holds no nonce. The ledger keeps a tombstone, so the next try is a new round. */
  async leave(): Promise<boolean> {
    return (await this.#withdraw('leave')).kind === 'free'
  }

  /** Before parking: waits until no nonce can be mined, those of an earlier ledger included. */
  async freeIfEnding(): Promise<void> {
    if (!this.#run.ending || this.#run.signals.cancelledBy) return
    const what = `ends once ${this.ready.lane} has withdrawn it`
    while ((await this.#withdraw('cancel')).kind === 'held') await this.#run.pause(waits.pendingMs, what)
  }

  async #broadcastUnlessWithdrawn(mode: BroadcastMode): Promise<LaneIntentResult> {
    const scope = new CancellationScope()
    let settled = false
    const onSettled = () => void (settled = true)
    const result = scope.run(() => (this.ready.local && mode === 'new' ? this.#localFirst() : this.#queued(mode)))
    result.then(onSettled, onSettled)
    await condition(() => settled || this.#run.ending)
    if (!settled) {
      this.startWithdrawal()
      await condition(() => settled || this.#withdrawn)
    }
    if (settled) return result
    scope.cancel()
    return { kind: 'cancelled' }
  }

  /** Then on the lane's queue: a transaction may have been sent. */
  async #localFirst(): Promise<BroadcastResult> {
    try {
      const result = await steps.broadcastLocally(this.#input('new'), this.#run.label)
      if (result.kind !== 'elsewhere') return result
    } catch (error) {
      if (isCancellation(error)) throw error
    }
    return this.#queued('requeued')
  }

  #queued(mode: BroadcastMode): Promise<BroadcastResult> {
    return steps.broadcast(this.#input(mode), this.#run.label)
  }

  /** For each try: signals may have changed it. */
  #input(mode: BroadcastMode): BroadcastInput {
    const { transfer, deadline, signals, retriedAt, seenAt } = this.#run
    const { kind: _, local: __, ...priced } = this.ready
    return { ...priced, intentId: this.#intentId, transfer, priority: signals.priority, deadline, retriedAt, seenAt, mode }
  }

  /** `status` absent: the step failed for good. */
  async #unserved(failure: unknown, status: LaneStatus | undefined): Promise<LaneIntentResult> {
    const reason = status?.detail ?? failureText(failure)
    const answer = await this.#withdraw('leave')
    if (answer.kind === 'held') return { kind: 'pending', nonce: answer.nonce, attempts: 0, reason, tried: [] }
    return { kind: 'unserved', code: status ? refusalCodes[status.why ?? 'unserved'] : codeOf(failure), reason }
  }

  #laneStatus() {
    return steps.getLaneStatus({ chain: this.#run.transfer.targetChain, lane: this.ready.lane })
  }

  #withdraw(how: 'leave' | 'cancel' | 'abandon'): Promise<Withdrawal> {
    return steps.withdraw({ lane: this.ready.lane, intentId: this.#intentId, how })
  }
}
