import type { Chain, Revert, Simulation } from '../../chains/port.ts'
import {
  selectorOf,
  type FeePolicyResolver,
  type FeeSubject,
  costNow,
  firstOffer,
  marketFor,
  type Offer,
  worstCost,
} from '../../domain/fees/fees.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { type Intent, type Attempt, laneAddress, type LaneId } from '../../domain/lane/lane.ts'

const defaultGasFactor = 1.2

/**
 * A call with its price. `wait`: too expensive now, or the lane lacks the coins. `impossible`: the call needs more gas
 * than the policy allows or than was paid for.
 */
export type Priced =
  | { readonly kind: 'priced'; readonly first: Attempt; /** Wei at the current market. */ readonly cost: bigint }
  | { readonly kind: 'reverts'; readonly revert: Revert }
  | Exclude<Offer, { kind: 'offer' }>
  | { readonly kind: 'wait'; readonly code: 'LANE_FUNDS' | 'LANE_CHOSEN' | 'CALL_TOO_DEAR'; readonly reason: string }
  | { readonly kind: 'impossible'; readonly code: 'GAS_ABOVE_PAID' | 'MESSAGE_TOO_LARGE'; readonly reason: string }

interface CallToPrice extends Pick<FeeSubject, 'deliveries' | 'terms'> {
  readonly lane: LaneId
  readonly owner: string
  readonly intent: Intent
  readonly gasAtMost?: bigint | undefined
}

interface PriceDeps {
  readonly chain: Chain
  readonly fees: FeePolicyResolver
}

/**
 * Maximum bytes of a call. Pools take transactions of up to 131,072 bytes (go-ethereum's txMaxSize). Arbitrum's
 * sequencer takes up to 95,000 bytes. A longer call would hold up its nonce, because no pool takes it.
 */
const mostCallBytes = 94_000

/**
 * If the gas limit of a call is above 1/`dearPart` of the policy's, and the lane holds too few coins for the call, the
 * call waits. Otherwise the ledger would close the lane because of a call whose gas a stranger may have chosen.
 */
const dearPart = 6n

/**
 * Prices a call. Returns `wait` with LANE_FUNDS if the lane cannot pay the value of the call, or with LANE_CHOSEN if
 * this lane is that of the terms. Returns `wait` with CALL_TOO_DEAR if the lane cannot pay for a call that needs a lot
 * of gas. Throws read errors.
 */
export async function priceCall(deps: PriceDeps, call: CallToPrice): Promise<Priced> {
  try {
    return await price(deps, call)
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'TRANSACTION_REFUSED') throw error
    const reason = `${call.lane} cannot pay the ${call.intent.value} wei of the call: ${message}`
    return { kind: 'wait', code: call.terms?.lane === undefined ? 'LANE_FUNDS' : 'LANE_CHOSEN', reason }
  }
}

async function price({ chain, fees }: PriceDeps, { lane, owner, intent, deliveries, gasAtMost, terms }: CallToPrice): Promise<Priced> {
  const { to: contract, data } = intent
  const bytes = data.length / 2 - 1
  if (bytes > mostCallBytes)
    return { kind: 'impossible', code: 'MESSAGE_TOO_LARGE', reason: `its call has ${bytes} bytes, at most ${mostCallBytes} are sent` }
  const policy = fees({ chain: chain.name, lane, transfer: owner, contract, selector: selectorOf(data), deliveries, terms })
  const [simulation, quote, dataFee] = await Promise.all([
    chain.simulate(intent, laneAddress(lane), { gasFactor: policy.gasFactor ?? defaultGasFactor, atMost: policy.gasLimit }),
    chain.quote(),
    chain.dataFee(intent),
  ])
  const abovePaid = { kind: 'impossible', code: 'GAS_ABOVE_PAID', reason: `it needs more gas than ${gasAtMost}` } as const
  if (!simulation.ok) {
    const { revert, needsMore } = simulation
    if (!needsMore || policy.gasLimit === undefined) return { kind: 'reverts', revert }
    if (gasAtMost !== undefined && gasAtMost <= BigInt(policy.gasLimit)) return abovePaid
    return { kind: 'impossible', code: 'GAS_LIMIT', reason: `the call needs more gas than ${policy.gasLimit}` }
  }
  const gasLimit = await withinGas(simulation.gas, gasAtMost, () => chain.simulate(intent, laneAddress(lane), { atMost: policy.gasLimit }))
  if (gasLimit === undefined) return abovePaid
  const market = marketFor(quote, policy)
  const offer = firstOffer(market, policy, { gasLimit, dataFee })
  if (offer.kind !== 'offer') return offer
  const { maxFee, tip } = offer
  const first: Attempt = { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== '0' && { dataFee }) }
  if (policy.gasLimit !== undefined && BigInt(gasLimit) * dearPart > BigInt(policy.gasLimit)) {
    const [needed, balance] = [worstCost(first) + BigInt(intent.value), await chain.balanceOf(laneAddress(lane))]
    const reason = `${lane} holds ${balance} wei, and the call may cost ${needed} wei`
    if (BigInt(balance) < needed) return { kind: 'wait', code: 'CALL_TOO_DEAR', reason }
  }
  return { kind: 'priced', cost: costNow({ gasLimit, dataFee }, market), first }
}

/** Returns `gas`, or `atMost` if the call fits only without the gas factor's reserve. Undefined if it needs more. */
async function withinGas(gas: string, atMost: bigint | undefined, withoutFactor: () => Promise<Simulation>): Promise<string | undefined> {
  if (atMost === undefined || BigInt(gas) <= atMost) return gas
  const exact = await withoutFactor()
  return exact.ok && BigInt(exact.gas) <= atMost ? String(atMost) : undefined
}
