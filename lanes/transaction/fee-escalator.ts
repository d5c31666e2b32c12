import { mostNoopGas } from '../../domain/fees/noop-gas.ts'
import { selectorOf, type FeePolicy } from '../../domain/fees/policy.ts'
import { nextOffer, type Fees, type Raising } from '../../domain/fees/fees.ts'
import type { Intent } from '../../domain/intent.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneDeps } from '../deps.ts'

/**
 * `stuck`: the lowest nonce is in no block. `reprice`: only if the market asks for more than the last attempt offers. `more-gas`: a no-op was refused for its
 * gas limit. `order`: of an operator or the ledger, whatever was offered before; `kind` absent: as the last attempt; `atLeast`: without the policy's caps.
 */
export type RaiseReason =
  | { readonly why: 'stuck' | 'reprice' | 'more-gas' }
  | { readonly why: 'order'; readonly kind: Attempt['kind'] | undefined; readonly atLeast: Partial<Fees> | undefined }

/** What the nodes and the chain say of the nonce now, see `Raising`. */
type RaiseFacts = Pick<Raising, 'outpriced' | 'balance'>

/** Room over the estimate of a no-op's gas. */
const gasFactor = 1.2

/** Decides what to offer next for one nonce. */
export class FeeEscalator {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #about: { transfer?: string; contract?: string; selector?: string | undefined }
  readonly #value: string | undefined
  #warned = false
  /** The fee is as high as it may be: an operator's caps, or the limit of raises, keep it there. */
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

  /** Undefined: nothing dearer may, or need, be offered. @param offered fees of all transactions of this nonce that a pool may hold */
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

  /** At least what an earlier no-op of this nonce had. `more`: that was refused as too little, so at least twice as much, or the chain's estimate. */
  async #noopGas(attempts: readonly Attempt[], more: boolean): Promise<string> {
    const { chain, signer } = this.#deps
    const { address } = signer
    const had = attempts.filter(({ kind }) => kind === 'noop').map(({ gasLimit }) => BigInt(gasLimit) * (more ? 2n : 1n))
    const known = [BigInt(await chain.noopGas(address)), ...had]
    const estimate = more ? await chain.simulate({ to: address, data: '0x', value: '0' }, address, gasFactor) : undefined
    if (estimate?.ok) known.push(BigInt(estimate.gas))
    const gas = known.reduce((a, b) => (a > b ? a : b))
    // A no-op that is refused with the most is refused for another reason than its gas, and is only sent again.
    return String(gas < mostNoopGas ? gas : mostNoopGas)
  }

  /** By the rules as they are now: an operator's change holds from the next attempt on. */
  #policy(): FeePolicy {
    const { chain, config, fees } = this.#deps
    return fees?.({ chain: chain.name, lane: config.lane, ...this.#about }) ?? {}
  }
}

/** Does the market ask for more than this, on either field? */
function dearer(market: Fees, { maxFee, tip }: Fees): boolean {
  return BigInt(market.maxFee) > BigInt(maxFee) || BigInt(market.tip) > BigInt(tip)
}
