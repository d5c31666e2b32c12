import type { BatchEnd } from '../../temporal/contracts/batch.ts'

/** What shared calls of one lane came to in one process, since it began: what its metrics show. */
export class BatchCounts {
  /** Transfers in batches that were signed here. */
  members = 0
  /** Batches that were signed here. */
  signed = 0
  /** Simulations that reverted and were halved: somebody in them was in the others' way, or they were too many. */
  split = 0
  /** How those ended that this process drove, or had recorded. */
  readonly ended = new Map<BatchEnd['state'], number>()

  left(members: number): void {
    this.signed += 1
    this.members += members
  }

  end({ state }: BatchEnd): void {
    this.ended.set(state, (this.ended.get(state) ?? 0) + 1)
  }
}
