/**
 * Decides when the fee of one nonce is raised. A halted chain raises nothing: time is counted in blocks. Only the
 * lowest nonce can be stuck. An attempt below the base fee is repriced at any nonce. A stuck nonce is not raised if a
 * higher fee replaces nothing on this chain.
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

  /** A new attempt, or none was needed: the wait begins anew. */
  attempted(height: number): void {
    this.#attemptedAt = height
    this.#pricedOutSince = undefined
    this.#tooCheap = undefined
  }

  /** The transaction fell out of its block. */
  restart(): void {
    this.#lowestSince = undefined
    this.#pricedOutSince = undefined
  }

  /** The nodes found it too cheap. `any`: no pool has it, so it need not be the lowest. */
  tooCheap(which: 'lowest' | 'any'): void {
    this.#tooCheap = which
  }

  /**
   * Called at each block. `stuck`: outbid it. `reprice`: raise it only if the market asks for more.
   * @param lowest the account's lowest nonce that is in no block
   * @param pricedOut the offers are below the present base fee
   */
  check({ height, lowest, pricedOut }: { height: number; lowest: boolean; pricedOut: boolean }): 'stuck' | 'reprice' | undefined {
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
