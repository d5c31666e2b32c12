/** Decides when one nonce's fee is raised, in blocks: a halted chain raises nothing. Only the lowest can be stuck. */
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

  attempted(height: number): void {
    this.#attemptedAt = height
    this.#pricedOutSince = undefined
    this.#tooCheap = undefined
  }

  restart(): void {
    this.#lowestSince = undefined
    this.#pricedOutSince = undefined
  }

  /** The nodes found it too cheap. `any`: no pool has it, so it need not be the lowest. */
  tooCheap(which: 'lowest' | 'any'): void {
    this.#tooCheap = which
  }

  /** Called at each block. `stuck`: outbid it. `reprice`: if the market asks more. `pricedOut`: below the base fee. */
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
