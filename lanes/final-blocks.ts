import type { BlockRef, HeadEvent } from '../chains/port.ts'

/** Blocks from one word to the ledger to the next: an old final block proves a replaced chain as well as a new one, or better. */
const apart = 1_000

/** Which blocks this process saw become final: what a replaced chain is known by. */
export class FinalBlocks {
  readonly #seen = new Map<number, string>()
  #newest: BlockRef | undefined
  #told: BlockRef | undefined

  see({ applied, latest, finalized }: HeadEvent): void {
    for (const { height, hash } of [...applied, latest]) this.#seen.set(height, hash)
    for (const [height, hash] of this.#seen) {
      if (height > finalized) continue
      if (height >= (this.#newest?.height ?? 0)) this.#newest = { height, hash }
      this.#seen.delete(height)
    }
  }

  /** A final block that the ledger is to be told, if it is time. */
  get due(): BlockRef | undefined {
    const newest = this.#newest
    return newest && (!this.#told || newest.height - this.#told.height >= apart) ? newest : undefined
  }

  told(block: BlockRef): void {
    this.#told = block
  }
}
