import type { BlockRef, HeadEvent } from '../../chains/port.ts'

/** A final block replaces the one that the ledger knows once it is so old, blocks: a reorganisation deeper than finality does not reach it. */
const oldEnough = 1_000

/** The blocks that this process saw become final: their hashes show whether the chain was replaced. */
export class FinalBlocks {
  readonly #seen = new Map<number, string>()
  #newest: BlockRef | undefined
  /** Of those that the ledger was not told, the one that has been final for the longest. */
  #candidate: BlockRef | undefined
  #told: BlockRef | undefined

  see({ applied, rolledBack, latest, finalized }: HeadEvent): void {
    for (const { height } of rolledBack) this.#seen.delete(height)
    for (const { height, hash } of [...applied, latest]) this.#seen.set(height, hash)
    for (const [height, hash] of this.#seen) {
      if (height > finalized) continue
      if (height >= (this.#newest?.height ?? 0)) this.#newest = { height, hash }
      this.#candidate ??= { height, hash }
      this.#seen.delete(height)
    }
  }

  /** The final block to tell the ledger; undefined: none yet. @param known to the ledger by its last answer */
  due(known = this.#told): BlockRef | undefined {
    const [newest, candidate] = [this.#newest, this.#candidate]
    if (!known || !newest || !candidate) return newest
    return candidate.height > known.height && newest.height - candidate.height >= oldEnough ? candidate : undefined
  }

  told(block: BlockRef): void {
    this.#told = block
    this.#candidate = this.#newest
  }
}
