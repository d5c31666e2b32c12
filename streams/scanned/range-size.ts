/** Ranges that a node answered before the next one is tried at twice the length. */
const patience = 4

/** How many blocks one read of logs asks for: half after a refusal, twice as many after some luck, never more than `most`. */
export class RangeSize {
  readonly #most: number
  #size: number
  #luck = 0

  constructor(most: number) {
    this.#most = most
    this.#size = most
  }

  get blocks(): number {
    return this.#size
  }

  /** The range is too long for a node. False: it was one block, which cannot be split. */
  refused(blocks: number): boolean {
    this.#luck = 0
    this.#size = Math.max(1, Math.floor(blocks / 2))
    return blocks > 1
  }

  /** Only a range of the full size says something about a longer one. */
  answered(blocks: number): void {
    if (blocks < this.#size || this.#size === this.#most || ++this.#luck < patience) return
    this.#luck = 0
    this.#size = Math.min(this.#most, this.#size * 2)
  }
}
