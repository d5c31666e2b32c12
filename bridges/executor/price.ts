import { type Quote, quoteDecimals } from './quote.ts'
import type { RelayInstructions } from './requests.ts'

/** Number of decimals of a coin, and of the price of a gas unit in that coin. */
export interface Decimals {
  readonly sourceCoin: number
  readonly targetCoin: number
  readonly targetGasPrice: number
}

export const evmDecimals: Decimals = { sourceCoin: 18, targetCoin: 18, targetGasPrice: 18 }

type Prices = Pick<Quote, 'baseFee' | 'gasPrice' | 'sourcePrice' | 'targetPrice'>

/** Price of a delivery, in the smallest unit of the source's coin. Rounds up, so that the payer pays fractions. */
export function costOf(quote: Prices, wanted: RelayInstructions, decimals = evmDecimals): bigint {
  const { gasLimit, msgValue, dropOff } = wanted
  const ofSource = 10n ** BigInt(decimals.sourceCoin)
  const [ofTarget, ofGas] = [10n ** BigInt(decimals.targetCoin), 10n ** BigInt(decimals.targetGasPrice)]
  // Cost on the target in its coins, multiplied by ofTarget * ofGas, so that no fraction is lost.
  const needed = gasLimit * quote.gasPrice * ofTarget + (msgValue + dropOff) * ofGas
  return (
    divideUp(quote.baseFee * ofSource, 10n ** BigInt(quoteDecimals)) +
    divideUp(needed * quote.targetPrice * ofSource, ofTarget * ofGas * quote.sourcePrice)
  )
}

export function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
