import type { Chain } from '../../chains/port.ts'
import { exactAmountText } from '../../domain/text/amounts.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type Intent, laneAddress, type LaneId } from '../../domain/lane/lane.ts'

const paymentGas = 21_000n
/** The gas price may rise by this factor before the payment is sent. */
const priceRoom = 2n
/** Factor on `paymentGas`. It must be above 1.2, because the signed gas limit is 1.2 times the estimate. */
const limitRoom = 2n

/**
 * A payment to the treasury: the balance minus `keep` (wei) and the maximum cost. Throws INPUT_INVALID, read errors.
 */
export async function sweepIntent(
  chain: Pick<Chain, 'account' | 'quote' | 'dataFee'>,
  sweep: { readonly lane: LaneId; readonly treasury: string; readonly keep: string; readonly coin: string | undefined },
): Promise<Intent> {
  const { lane, treasury, keep, coin } = sweep
  const address = laneAddress(lane)
  const intent = { to: treasury, data: '0x', value: '0' }
  const [account, quote, dataFee] = await Promise.all([chain.account(address), chain.quote(), chain.dataFee(intent)])
  const cost = paymentGas * limitRoom * BigInt(quote.maxFee) * priceRoom + BigInt(dataFee) * priceRoom
  const value = BigInt(account.balance) - BigInt(keep) - cost
  if (value > 0n) return { ...intent, value: String(value) }
  const [balance, kept, fee] = [account.balance, keep, String(cost)].map((wei) => exactAmountText(wei, coin))
  throw invalid(`nothing to send: balance ${balance}, to keep ${kept}, fee up to ${fee}`, { lane: address })
}

/** A payment from one lane to another. Throws INPUT_INVALID unless they are different lanes of one network. */
export function topUpIntent(lane: LaneId, from: LaneId, wei: string): Intent {
  if (network(from) !== network(lane) || from === lane)
    throw invalid('the two lanes must be different lanes of one network', { lane, from })
  return { to: laneAddress(lane), data: '0x', value: wei }
}

const network = (lane: LaneId) => lane.split(':')[0]

function invalid(detail: string, facts: Readonly<Record<string, string>>): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail, facts })
}
