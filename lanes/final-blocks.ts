import type { BlockRef, HeadEvent } from '../chains/port.ts'

/**
 * So old, blocks, is a final block before it takes the place of the one that the ledger knows: an old one proves a replaced chain as well as a new
 * one, and a reorganisation deeper than finality does not reach it.
 */
const oldEnough = 1_000

/** Which blocks this process saw become final: what a replaced chain is known by. */
export class FinalBlocks {
  readonly #seen = new Map<number, string>()
  #newest: BlockRef | undefined
  /** Final for the longest, of those that the ledger was not told. */
  #candidate: BlockRef | undefined

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

  /** A final block that a ledger is to be told which knows of `known`, if it is time. */
  due(known: BlockRef | undefined): BlockRef | undefined {
    const [newest, candidate] = [this.#newest, this.#candidate]
    if (!known || !newest || !candidate) return newest
    return candidate.height > known.height && newest.height - candidate.height >= oldEnough ? candidate : undefined
  }

  told(): void {
    this.#candidate = this.#newest
  }
}
