import type { Chain } from '../../chains/port.ts'
import { exactAmountText } from '../../domain/text/amounts.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'

/** Gas of a payment, and the factor by which the price may rise before it is sent. */
const paymentGas = 21_000n
const priceRoom = 2n
/** The signed gas limit is the estimate times 1.2; 2 is on the safe side. */
const limitRoom = 2n

/**
 * Sends the treasury of a lane's chain what remains after `keep` (wei, decimal) and what the payment itself may cost. Throws INPUT_INVALID if nothing does, and what
 * reading the chain throws.
 * @param sweep.coin the name of the coins, for a refusal; undefined: not known
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

/** Sends coins from one lane to another of its network. Throws INPUT_INVALID if they are not two, or of two networks. */
export function topUpIntent(lane: LaneId, from: LaneId, wei: string): Intent {
  if (network(from) !== network(lane) || from === lane) throw invalid('the two must be different lanes of one network', { lane, from })
  return { to: laneAddress(lane), data: '0x', value: wei }
}

function network(id: LaneId): string {
  return id.split(':')[0] ?? ''
}

function invalid(detail: string, facts: Readonly<Record<string, string>>): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail, facts })
}
