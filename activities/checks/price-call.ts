import type { Chain, Revert } from '../../chains/port.ts'
import { selectorOf, type FeePolicyResolver, costNow, firstOffer, marketFor, type Offer } from '../../domain/fees/fees.ts'
import { type Intent, type Attempt, laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import type { Terms } from '../../domain/transfer/transfer.ts'

const defaultGasFactor = 1.2

/** `wait`: too expensive now. `impossible`: above the policy's limits at any market price. */
export type Priced =
  | { readonly kind: 'priced'; readonly first: Attempt; /** wei, at the present market. */ readonly cost: bigint }
  | { readonly kind: 'reverts'; readonly revert: Revert }
  | Exclude<Offer, { kind: 'offer' }>

export async function priceCall(
  { chain, fees }: { readonly chain: Chain; readonly fees: FeePolicyResolver },
  {
    lane,
    owner,
    intent,
    deliveries,
    terms,
  }: {
    readonly lane: LaneId
    readonly owner: string
    readonly intent: Intent
    readonly deliveries?: number
    readonly terms?: Terms | undefined
  },
): Promise<Priced> {
  const call = { contract: intent.to, selector: selectorOf(intent.data) }
  const policy = fees({ chain: chain.name, lane, transfer: owner, ...call, deliveries, terms })
  const [simulation, quote, dataFee] = await Promise.all([
    chain.simulate(intent, laneAddress(lane), policy.gasFactor ?? defaultGasFactor),
    chain.quote(),
    chain.dataFee(intent),
  ])
  if (!simulation.ok) return { kind: 'reverts', revert: simulation.revert }
  const { gas: gasLimit } = simulation
  const market = marketFor(quote, policy)
  const offer = firstOffer(market, policy, { gasLimit, dataFee })
  if (offer.kind !== 'offer') return offer
  const { maxFee, tip } = offer
  const cost = costNow({ gasLimit, dataFee }, market)
  return { kind: 'priced', cost, first: { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== '0' && { dataFee }) } }
}
