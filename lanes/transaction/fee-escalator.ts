import { type Fees, mostNoopGas, nextOffer, type Raising } from '../../domain/fees/fees.ts'
import { selectorOf, type FeePolicy } from '../../domain/fees/policy.ts'
import { type Intent, workflowOf, type Attempt } from '../../domain/lane/lane.ts'
import type { LaneDeps } from '../deps.ts'

/** `stuck`: lowest nonce in no block. `reprice`: if the market asks more. `atLeast`: beyond the policy's caps. */
export type RaiseReason =
  | { readonly why: 'stuck' | 'reprice' | 'more-gas' }
  | { readonly why: 'order'; readonly kind: Attempt['kind'] | undefined; readonly atLeast: Partial<Fees> | undefined }

type RaiseFacts = Pick<Raising, 'outpriced' | 'balance'>

const gasFactor = 1.2

export class FeeEscalator {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #about: { transfer?: string; contract?: string; selector?: string | undefined }
  readonly #value: string | undefined
  #warned = false
  /** The fee is as high as an operator's caps, or the limit of raises, allow. */
  atLimit = false

  constructor(deps: LaneDeps, nonce: number, intentId: string | undefined, intent: Intent | undefined) {
    this.#deps = deps
    this.#nonce = nonce
    this.#about = {
      ...(intentId !== undefined && { transfer: workflowOf(intentId) }),
      ...(intent && { contract: intent.to, selector: selectorOf(intent.data) }),
    }
    this.#value = intent?.value
  }

  /** Undefined: no dearer attempt is allowed or needed. @param offered fees that a pool may hold */
  async next(attempts: readonly Attempt[], offered: readonly Fees[], reason: RaiseReason, facts: RaiseFacts): Promise<Attempt | undefined> {
    const { chain, logger } = this.#deps
    const last = attempts.at(-1)
    const moreGas = reason.why === 'more-gas'
    const ordered = reason.why === 'order' ? reason : undefined
    const kind = ordered?.kind ?? last?.kind ?? 'noop'
    const [market, noopGas] = await Promise.all([chain.quote(), this.#noopGas(attempts, moreGas)])
    if (reason.why === 'reprice' && last && !dearer(market, last)) return undefined
    const cost =
      kind === 'noop' || !last ? { gasLimit: noopGas } : { gasLimit: last.gasLimit, ...(last.dataFee && { dataFee: last.dataFee }) }
    if (moreGas && noopGas === last?.gasLimit) return undefined
    const value = kind === 'call' ? this.#value : undefined
    const urgent = moreGas || ordered !== undefined
    const fees = nextOffer(offered, market, { ...facts, ...cost, kind, value, urgent, atLeast: ordered?.atLeast, policy: this.#policy() })
    this.atLimit = fees === undefined
    if (fees) return { kind, ...cost, ...fees }
    const { maxFee, tip } = last ?? {}
    const about = { code: 'FEE_LIMIT_REACHED', nonce: this.#nonce, maxFee, tip } as const
    if (!this.#warned) logger.warn('the fee of a stuck nonce is at its limit; the best attempt is sent again', about)
    this.#warned = true
    return undefined
  }

  /** `more`: an earlier no-op had too little gas, so at least twice that, or the chain's estimate. */
  async #noopGas(attempts: readonly Attempt[], more: boolean): Promise<string> {
    const { chain, signer } = this.#deps
    const { address } = signer
    const had = attempts.filter(({ kind }) => kind === 'noop').map(({ gasLimit }) => BigInt(gasLimit) * (more ? 2n : 1n))
    const known = [BigInt(await chain.noopGas(address)), ...had]
    const estimate = more ? await chain.simulate({ to: address, data: '0x', value: '0' }, address, gasFactor) : undefined
    if (estimate?.ok) known.push(BigInt(estimate.gas))
    const gas = known.reduce((a, b) => (a > b ? a : b))
    // With this much gas a no-op is refused for another reason, and is only sent again.
    return String(gas < mostNoopGas ? gas : mostNoopGas)
  }

  /** Read for each attempt: an operator's change applies from the next one on. */
  #policy(): FeePolicy {
    const { chain, config, fees } = this.#deps
    return fees?.({ chain: chain.name, lane: config.lane, ...this.#about }) ?? {}
  }
}

function dearer(market: Fees, { maxFee, tip }: Fees): boolean {
  return BigInt(market.maxFee) > BigInt(maxFee) || BigInt(market.tip) > BigInt(tip)
}

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
