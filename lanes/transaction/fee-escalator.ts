import { selectorOf, type Fees, marketFor, mostNoopGas, nextOffer, type Raising } from '../../domain/fees/fees.ts'
import { type Attempt, workflowOf } from '../../domain/lane/lane.ts'
import type { Terms } from '../../domain/transfer/transfer.ts'
import type { KnownCall, LaneDeps } from '../deps.ts'

/** `stuck`: the lowest nonce is in no block. `reprice`: the market's fee may be higher. */
export type RaiseReason =
  | { readonly why: 'stuck' | 'reprice' | 'more-gas' }
  | { readonly why: 'order'; readonly kind: Attempt['kind'] | undefined; readonly atLeast: Partial<Fees> | undefined }

type RaiseFacts = Pick<Raising, 'outpriced' | 'balance'>

const gasFactor = 1.2

export function createFeeEscalator(deps: LaneDeps, nonce: number, { intentId, intent, terms }: KnownCall) {
  const { chain, signer, config, fees: policyOf, logger } = deps
  const transfer = intentId === undefined ? undefined : workflowOf(intentId)
  const call = { contract: intent?.to, selector: intent && selectorOf(intent.data) }
  const policyWith = (limits: Terms | undefined) =>
    policyOf?.({ chain: chain.name, lane: config.lane, transfer, ...call, terms: limits }) ?? {}
  let isWarned = false
  let atLimit = false
  let atTerms = false

  async function gasOfNoop(attempts: readonly Attempt[], more: boolean): Promise<string> {
    const { address } = signer
    const had = attempts.filter(({ kind }) => kind === 'noop').map(({ gasLimit }) => BigInt(gasLimit) * (more ? 2n : 1n))
    const known = [BigInt(await chain.noopGas(address)), ...had]
    const estimate = more ? await chain.simulate({ to: address, data: '0x', value: '0' }, address, { gasFactor }) : undefined
    if (estimate?.ok) known.push(BigInt(estimate.gas))
    const gas = known.reduce((a, b) => (a > b ? a : b))
    // If a no-op with `mostNoopGas` was refused, the reason was not a lack of gas, so more gas would not help.
    return String(gas < mostNoopGas ? gas : mostNoopGas)
  }

  /**
   * Returns the next attempt. Undefined if none is needed or allowed. `offered`: fees of attempts that a pool may hold.
   */
  async function next(
    attempts: readonly Attempt[],
    offered: readonly Fees[],
    reason: RaiseReason,
    facts: RaiseFacts,
  ): Promise<Attempt | undefined> {
    const last = attempts.at(-1)
    const moreGas = reason.why === 'more-gas'
    const ordered = reason.why === 'order' ? reason : undefined
    const kind = ordered?.kind ?? last?.kind ?? 'noop'
    // The submission's terms do not limit a no-op, because the no-op must replace the call.
    const policy = policyWith(kind === 'call' ? terms : undefined)
    const [quote, noopGas] = await Promise.all([chain.quote(), gasOfNoop(attempts, moreGas)])
    const market = marketFor(quote, policy)
    if (reason.why === 'reprice' && last && !dearer(market, last)) return undefined
    const cost = kind === 'noop' || !last ? { gasLimit: noopGas } : costOf(last)
    if (moreGas && noopGas === last?.gasLimit) return undefined
    const value = kind === 'call' ? intent?.value : undefined
    const urgent = moreGas || ordered !== undefined
    const raising = { ...facts, ...cost, kind, value, urgent, atLeast: ordered?.atLeast }
    const fees = nextOffer(offered, market, { ...raising, policy })
    atTerms = !fees && terms !== undefined && nextOffer(offered, market, { ...raising, policy: policyWith(undefined) }) !== undefined
    atLimit = !fees && !atTerms
    if (atLimit) warnOnce(last)
    return fees && { kind, ...cost, ...fees }
  }

  function warnOnce({ maxFee, tip }: Partial<Fees> = {}): void {
    if (isWarned) return
    isWarned = true
    const about = { code: 'FEE_LIMIT_REACHED', nonce, maxFee, tip } as const
    logger.warn('the fee of a stuck nonce is at its limit; the best attempt is sent again', about)
  }

  return {
    next,
    atLimit: () => atLimit,
    atTerms: () => atTerms,
  }
}

function costOf({ gasLimit, dataFee }: Attempt): Pick<Attempt, 'gasLimit' | 'dataFee'> {
  return { gasLimit, ...(dataFee && { dataFee }) }
}

function dearer(market: Fees, { maxFee, tip }: Fees): boolean {
  return BigInt(market.maxFee) > BigInt(maxFee) || BigInt(market.tip) > BigInt(tip)
}

export type StuckDetector = ReturnType<typeof createStuckDetector>

/**
 * Decides when the fees of an attempt are raised. Only the lowest nonce can be stuck. Counts blocks instead of time,
 * because a chain may halt.
 */
export function createStuckDetector(blocks: number, raises: boolean, waited = 0) {
  let attemptedAt = -1
  let sentAt = -1
  let lowestSince: number | undefined
  let pricedOutSince: number | undefined
  let tooCheap: 'lowest' | 'any' | undefined
  const longEnough = (since: number | undefined, height: number) => since !== undefined && height - Math.max(since, attemptedAt) >= blocks

  return {
    attempted(height: number): void {
      sentAt = height
      attemptedAt = height - waited
      if (waited > 0) lowestSince = attemptedAt
      waited = 0
      pricedOutSince = undefined
      tooCheap = undefined
    },
    restart(): void {
      lowestSince = undefined
      pricedOutSince = undefined
    },
    /**
     * Called if nodes find an attempt too cheap. `any`: no pool has the attempt, so it is raised even if its nonce is
     * not the lowest.
     */
    tooCheap: (which: 'lowest' | 'any') => void (tooCheap = which),
    /** Called at each block. `pricedOut`: the base fee is above the fees of all attempts. */
    check({ height, lowest, pricedOut }: { height: number; lowest: boolean; pricedOut: boolean }): 'stuck' | 'reprice' | undefined {
      lowestSince = lowest ? (lowestSince ?? height) : undefined
      pricedOutSince = pricedOut ? (pricedOutSince ?? height) : undefined
      if (height <= sentAt) return undefined
      if (lowest && raises && (tooCheap || longEnough(lowestSince, height))) return 'stuck'
      return tooCheap === 'any' || longEnough(pricedOutSince, height) ? 'reprice' : undefined
    },
  }
}
