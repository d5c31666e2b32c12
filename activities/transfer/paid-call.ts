import type { PlannedDelivery } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { type ErrorCode, isPluginFailure, toRelayerError } from '../../domain/catalogue/errors.ts'
import { type Attempt, type Intent, laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import type { AdmitInput, Waiting } from '../../temporal/contracts/transfer-steps.ts'
import type { Priced } from '../checks/price-call.ts'

const retryInMs = 15_000

/**
 * Returns a function that says whether a lane holds the coins of the call. If the balance cannot be read, the
 * simulation decides. Undefined if the call needs no coins.
 */
export function paying({ payment, intent }: PlannedDelivery, chain: Pick<Chain, 'balanceOf'>) {
  const coins = BigInt(payment?.coins ?? intent?.value ?? 0)
  const holds = (balance: string) => BigInt(balance) >= coins
  return coins > 0n ? (lane: LaneId) => chain.balanceOf(laneAddress(lane)).then(holds, () => true) : undefined
}

/** The part of the paid gas that reverted calls have not used (`left`). Undefined if nobody pays for gas. */
export function paidGasOf({ gasAtMost }: PlannedDelivery, { reverted }: AdmitInput) {
  if (gasAtMost === undefined) return undefined
  if (!reverted) return { left: gasAtMost, revertsAt: () => 1 }
  const left = gasAtMost - BigInt(reverted.gas)
  /**
   * Number of reverted calls, including those so far, after which the payment is used up. On an L2 with a fee for data,
   * only one more call may revert, because the payment covers that fee once.
   */
  const revertsAt = ({ gasLimit, dataFee }: Attempt) =>
    reverted.calls + (dataFee === undefined ? Math.max(1, Number(left / BigInt(gasLimit))) : 1)
  return { left, revertsAt }
}

/**
 * A wait if the fee is worth less than the delivery costs. Otherwise the worth of the fee minus the coins of the call;
 * undefined if the worth does not matter.
 */
export async function feeOf(
  { earned }: PlannedDelivery,
  { data }: Intent,
  { first, cost }: Extract<Priced, { kind: 'priced' }>,
): Promise<Waiting | bigint | undefined> {
  const waiting = (code: ErrorCode, reason: string): Waiting => ({ kind: 'waiting', code, reason, retryInMs })
  try {
    const worth = await earned?.(first.dataFee === undefined ? 0 : (data.length - 2) / 2)
    if (worth === undefined || worth >= cost) return worth
    return waiting('FEE_BELOW_COST', `the fee is worth ${worth} wei, the delivery costs ${cost} wei now`)
  } catch (thrown) {
    const { code, about } = toRelayerError(thrown)
    if (code !== 'PRICE_MISSING' && !isPluginFailure(thrown)) throw thrown
    return waiting(code, about)
  }
}
