import type { Chain, Revert } from '../chains/port.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { selectorOf, type FeePolicyResolver } from '../domain/fees/policy.ts'
import { firstOffer } from '../domain/fees/fees.ts'
import type { Intent } from '../domain/intent.ts'
import type { Attempt } from '../domain/lane/lane.ts'
import { laneAddress, type LaneId } from '../domain/lane/lane-id.ts'

/** Room over the estimate where no policy sets it. */
const commonGasFactor = 1.2

/** A call as this lane would send it now. `wait`: too dear today. `impossible`: beyond what may ever be spent. */
export type Priced =
  | { readonly kind: 'priced'; readonly first: Attempt }
  | { readonly kind: 'reverts'; readonly revert: Revert }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'impossible'; readonly code: ErrorCode; readonly reason: string }

/** Simulates a call from the lane's address and quotes its fee within the limits of its policy. Throws what reads throw. */
export async function priceCall(
  { chain, fees }: { readonly chain: Chain; readonly fees: FeePolicyResolver },
  { lane, owner, intent }: { readonly lane: LaneId; readonly owner: string; readonly intent: Intent },
): Promise<Priced> {
  const policy = fees({ chain: chain.name, lane, transfer: owner, contract: intent.to, selector: selectorOf(intent.data) })
  const [simulation, quote, dataFee] = await Promise.all([
    chain.simulate(intent, laneAddress(lane), policy.gasFactor ?? commonGasFactor),
    chain.quote(),
    chain.dataFee(intent),
  ])
  if (!simulation.ok) return { kind: 'reverts', revert: simulation.revert }
  const { gas: gasLimit } = simulation
  const offer = firstOffer(quote, policy, { gasLimit, dataFee })
  if (offer.kind !== 'offer') return offer
  const { maxFee, tip } = offer
  return { kind: 'priced', first: { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== '0' && { dataFee }) } }
}
