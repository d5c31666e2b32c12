/**
 * Decides when the fee of one nonce is raised. Time is counted in blocks: on a halted chain nothing is raised. Only the lowest nonce is judged stuck, from
 * when it became the lowest: those behind it wait for it, not for a better fee. What the base fee has left behind is repriced whatever its nonce: one after
 * the other, each would wait for its turn. On a chain where a higher fee replaces nothing, a stuck nonce is not raised.
 */
export class StuckDetector {
  readonly #blocks: number
  readonly #raises: boolean
  #attemptedAt = -1
  #lowestSince: number | undefined
  #pricedOutSince: number | undefined
  #tooCheap: 'lowest' | 'any' | undefined

  constructor(blocks: number, raises: boolean) {
    this.#blocks = blocks
    this.#raises = raises
  }

  /** A new attempt, or a look that found none to make: the wait begins anew. */
  attempted(height: number): void {
    this.#attemptedAt = height
    this.#pricedOutSince = undefined
    this.#tooCheap = undefined
  }

  /** Its block was rolled back. */
  restart(): void {
    this.#lowestSince = undefined
    this.#pricedOutSince = undefined
  }

  /** The nodes found it too cheap: it is raised at the next block. `any`: no pool has it, so that it need not be the lowest. */
  tooCheap(which: 'lowest' | 'any'): void {
    this.#tooCheap = which
  }

  /**
   * At a new block. `stuck`: to be outbid. `reprice`: to be raised only if the market asks for more than was offered.
   * @param lowest it is the account's lowest nonce that is in no block
   * @param pricedOut no block of the present base fee can take what was offered
   */
  look({ height, lowest, pricedOut }: { height: number; lowest: boolean; pricedOut: boolean }): 'stuck' | 'reprice' | undefined {
    this.#lowestSince = lowest ? (this.#lowestSince ?? height) : undefined
    this.#pricedOutSince = pricedOut ? (this.#pricedOutSince ?? height) : undefined
    if (height <= this.#attemptedAt) return undefined
    if (lowest && this.#raises && (this.#tooCheap || this.#longEnough(this.#lowestSince, height))) return 'stuck'
    if (this.#tooCheap === 'any' || this.#longEnough(this.#pricedOutSince, height)) return 'reprice'
    return undefined
  }

  #longEnough(since: number | undefined, height: number): boolean {
    return since !== undefined && height - Math.max(since, this.#attemptedAt) >= this.#blocks
  }
}
