import type { BatchEnd } from '../../temporal/contracts/batch.ts'

/** Counts of the batches of one lane in one process, since it started; shown by its metrics. */
export class BatchCounts {
  /** Transfers in batches that were signed here. */
  members = 0
  signed = 0
  /** Batches that were halved since their simulation reverted. */
  split = 0
  /** How the batches ended that this process drove, or had recorded. */
  readonly ended = new Map<BatchEnd['state'], number>()

  sent(members: number): void {
    this.signed += 1
    this.members += members
  }

  end({ state }: BatchEnd): void {
    this.ended.set(state, (this.ended.get(state) ?? 0) + 1)
  }
}
