import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { BroadcastInput, BroadcastMode, BroadcastResult, Ready, Withdrawal } from '../../temporal/contracts/transfer-steps.ts'
import { codeOf, failureText, timedOutInQueue } from '../failures.ts'
import { waits } from '../policies.ts'
import * as steps from './steps.ts'
import type { TransferRun } from './transfer-run.ts'
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow'

/** `cancelled`: the transfer is to end. `unserved`: no worker took it, or the lane cannot work. In both cases the ledger has let the intent go. */
type LaneBroadcastResult =
  | BroadcastResult
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unserved'; readonly code: ErrorCode; readonly reason: string }

/** One intent on one lane: it is broadcast, followed, and withdrawn. */
export class LaneBroadcast {
  readonly ready: Ready
  readonly #run: TransferRun
  readonly #intentId: string
  #asked = false
  #letGo = false
  /** Since when, ms, this run of the workflow knows that no worker serves the lane, or that none may. */
  #strandedSince: number | undefined

  constructor(run: TransferRun, ready: Ready) {
    this.ready = ready
    this.#run = run
    this.#intentId = run.intentId
  }

  /** Step 4, once. A lane that is only busy is waited for. */
  async broadcast(follow: boolean): Promise<LaneBroadcastResult> {
    for (let mode: BroadcastMode = follow ? 'follow' : 'new'; ; mode = follow ? 'follow' : 'requeued') {
      try {
        return await this.#broadcastUnlessLetGo(mode)
      } catch (error) {
        if (isCancellation(error)) throw error
        const status = timedOutInQueue(error) ? await this.#laneStatus() : undefined
        if (!status?.lane.open) return this.#unserved(error, status?.lane)
        if (this.#run.isDue) await this.#run.continueAsNew()
      }
    }
  }

  /** Asks the ledger, once, to let the intent go. With a nonce the lane sends a no-op, and the broadcast goes on until one of the two is mined. */
  askToLetGo(): void {
    if (this.#asked) return
    this.#asked = true
    this.#withdraw('cancel').then(
      ({ kind }) => void (this.#letGo = kind === 'free'),
      // Cancelled by Temporal, or not possible: the broadcast meets the same.
      () => {},
    )
  }

  /**
   * Gives up a nonce on a lane that is forbidden, replaced or unserved for longer than the config allows, if another lane is open or the deadline has passed.
   * The nonce stays the lane's debt. Says why. Undefined: it stays, also where an operator cancels: then nothing of it may be left to be mined.
   */
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

  /** True if the intent holds no nonce. The ledger then keeps a tombstone of it, so that the next try is another round. */
  async leave(): Promise<boolean> {
    return (await this.#withdraw('leave')).kind === 'free'
  }

  /**
   * If the transfer is to be parked: waits until nothing of the intent can be mined, of what an earlier ledger granted either. One that is cancelled waits
   * for that at its end, for all of its nonces.
   */
  async freeIfEnding(): Promise<void> {
    if (!this.#run.ending || (this.#run.signals.cancelledBy && this.#run.endsByNonces)) return
    const what = `ends once ${this.ready.lane} has let it go`
    while ((await this.#withdraw('cancel')).kind === 'held') await this.#run.pause(waits.pendingMs, what)
  }

  async #broadcastUnlessLetGo(mode: BroadcastMode): Promise<LaneBroadcastResult> {
    const scope = new CancellationScope()
    let settled = false
    const onSettled = () => void (settled = true)
    const result = scope.run(() => (this.ready.near && mode === 'new' ? this.#nearFirst() : this.#queued(mode)))
    result.then(onSettled, onSettled)
    await condition(() => settled || this.#run.ending)
    if (!settled) {
      this.askToLetGo()
      await condition(() => settled || this.#letGo)
    }
    if (settled) return result
    scope.cancel()
    return { kind: 'cancelled' }
  }

  /** The admission that was just made says that its process holds the key. Otherwise, or if that fails, the lane's queue: something may have been sent. */
  async #nearFirst(): Promise<BroadcastResult> {
    try {
      const result = await steps.broadcastNear(this.#input('new'), this.#run.label)
      if (result.kind !== 'elsewhere') return result
    } catch (error) {
      if (isCancellation(error)) throw error
    }
    return this.#queued('requeued')
  }

  #queued(mode: BroadcastMode): Promise<BroadcastResult> {
    return steps.broadcast(this.#input(mode), this.#run.label)
  }

  /** What signals have changed by now is in it: the class, the deadline, an order to try again. */
  #input(mode: BroadcastMode): BroadcastInput {
    const { transfer, deadline, signals, retriedAt, seenAt } = this.#run
    const { kind: _, near: __, ...priced } = this.ready
    return { ...priced, intentId: this.#intentId, transfer, priority: signals.priority, deadline, retriedAt, seenAt, mode }
  }

  /** @param status absent: the step failed for good, such as by a refusal of the signer, and that says why */
  async #unserved(failure: unknown, status: LaneStatus | undefined): Promise<LaneBroadcastResult> {
    const reason = status?.detail ?? failureText(failure)
    const answer = await this.#withdraw('leave')
    if (answer.kind === 'held') return { kind: 'pending', nonce: answer.nonce, attempts: 0, reason }
    return { kind: 'unserved', code: status ? refusalCodes[status.why ?? 'unserved'] : codeOf(failure), reason }
  }

  #laneStatus() {
    return steps.getLaneStatus({ chain: this.#run.transfer.targetChain, lane: this.ready.lane })
  }

  #withdraw(how: 'leave' | 'cancel' | 'abandon'): Promise<Withdrawal> {
    return steps.withdraw({ lane: this.ready.lane, intentId: this.#intentId, how })
  }
}
