/** How a nonce stands at a new block. */
export interface Standing {
  readonly height: number
  /** Is it the account's lowest nonce that is in no block? */
  readonly lowest: boolean
  /** No block of the present base fee can take what was offered. */
  readonly pricedOut: boolean
}

/** `raise`: outbid what was offered. `reprice`: only if the market asks for more than was offered. */
export type Due = 'raise' | 'reprice' | undefined

/**
 * When the fee of one nonce is raised, counted in blocks, so that a chain that stands still raises nothing. Only the lowest nonce is judged stuck,
 * and only from when it became the lowest: those behind it wait for it, not for a better fee. What the base fee has left behind is repriced wherever
 * it stands, all of them at once: one after the other, each would wait for its turn. Where a higher fee replaces nothing, being stuck is no reason.
 */
export class Patience {
  readonly #blocks: number
  readonly #raises: boolean
  #attemptedAt = -1
  #lowestSince: number | undefined
  #pricedOutSince: number | undefined
  #hurry: 'lowest' | 'any' | undefined

  constructor(blocks: number, raises: boolean) {
    this.#blocks = blocks
    this.#raises = raises
  }

  /** A new attempt, or a look that found none to make: the wait begins anew. */
  attempted(height: number): void {
    this.#attemptedAt = height
    this.#pricedOutSince = undefined
    this.#hurry = undefined
  }

  /** It fell out of its block. */
  restart(): void {
    this.#lowestSince = undefined
    this.#pricedOutSince = undefined
  }

  /** The nodes found it too cheap: look at the next block. `any`: no pool has it, so that it need not be the lowest. */
  hurry(who: 'lowest' | 'any'): void {
    this.#hurry = who
  }

  look({ height, lowest, pricedOut }: Standing): Due {
    this.#lowestSince = lowest ? (this.#lowestSince ?? height) : undefined
    this.#pricedOutSince = pricedOut ? (this.#pricedOutSince ?? height) : undefined
    if (height <= this.#attemptedAt) return undefined
    if (lowest && this.#raises && (this.#hurry || this.#over(this.#lowestSince, height))) return 'raise'
    if (this.#hurry === 'any' || this.#over(this.#pricedOutSince, height)) return 'reprice'
    return undefined
  }

  /** Has it been so for long enough at this block, with the present attempt? */
  #over(since: number | undefined, height: number): boolean {
    return since !== undefined && height - Math.max(since, this.#attemptedAt) >= this.#blocks
  }
}
