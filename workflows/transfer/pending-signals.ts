import type { CancelOrder, TransferInput, UnacknowledgedSignals } from '../../temporal/contracts/transfer.ts'
import { condition } from '@temporalio/workflow'

/** The class of a transfer in the lane's waiting room: as all, and as one that an operator expedites. */
const ordinaryClass = 3
const firstClass = 1

/** What operators and the lane have told a transfer by signals, until it is acted upon. Goes along when the workflow continues as new. */
export class PendingSignals {
  cancelledBy: CancelOrder | undefined
  #woken: boolean
  #adopted: string | undefined
  #priority: number

  constructor({ unacknowledged, priority: asked = ordinaryClass }: Pick<TransferInput, 'unacknowledged' | 'priority'>) {
    const { woken, adopted, cancelledBy, priority } = unacknowledged ?? { woken: false, priority: asked }
    this.#woken = woken
    this.#adopted = adopted
    this.cancelledBy = cancelledBy
    this.#priority = priority
  }

  /** Class in the lane's waiting room, 1 (first) … 5. */
  get priority(): number {
    return this.#priority
  }

  /** Something came that a wait is not to outlast. */
  get woken(): boolean {
    return this.#woken
  }

  wake(): void {
    this.#woken = true
  }

  /** All that woke so far is being acted upon. */
  acknowledge(): void {
    this.#woken = false
  }

  cancel(by: CancelOrder): void {
    this.cancelledBy = by
    this.#woken = true
  }

  adopt(message: unknown): void {
    if (typeof message !== 'string') return
    this.#adopted = message
    this.#woken = true
  }

  expedite(): void {
    this.#priority = firstClass
  }

  /** A copy that was not looked at: kept for later, unless a newer one came. */
  keep(message: string): void {
    this.#adopted ??= message
  }

  /** The copy that was sent last, once. */
  takeAdopted(): string | undefined {
    const message = this.#adopted
    this.#adopted = undefined
    return message
  }

  /** True if something woke it before the time was over. */
  async pause(ms: number): Promise<boolean> {
    return this.#woken || condition(() => this.#woken, ms)
  }

  get unacknowledged(): UnacknowledgedSignals {
    return {
      woken: this.#woken,
      priority: this.#priority,
      ...(this.#adopted !== undefined && { adopted: this.#adopted }),
      ...(this.cancelledBy && { cancelledBy: this.cancelledBy }),
    }
  }
}
