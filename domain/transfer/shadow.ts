import { exactAmountText, gweiText, parseAmount } from '../text/amounts.ts'

/** Numbers are decimal. */
export interface ShadowCall {
  readonly lane: string
  readonly to: string
  readonly selector: string
  readonly gasLimit: string
  /** Wei per gas. */
  readonly maxFee: string
  /** Wei at the market's fees of the last try. */
  readonly cost: string
}

/**
 * Reason of a transfer in shadow mode. `shadowCallIn` reads the call from this text, because a status has no field for
 * the call.
 */
export function shadowReason({ lane, to, selector, gasLimit, maxFee, cost }: ShadowCall): string {
  const price = `${gasLimit} gas at up to ${gweiText(maxFee)}`
  return `${lane} would call ${selector} of ${to} with ${price}; it costs ${exactAmountText(cost, undefined)} now`
}

const form = /^(\S+) would call (0x[0-9a-f]{0,8}) of (0x\w{1,64}) with (\d{1,20}) gas at up to ([\d.]{1,99} gwei); it costs (.{1,99}) now$/i

export function shadowCallIn(reason: string): ShadowCall | undefined {
  const [, lane = '', selector = '', to = '', gasLimit = '', price = '', paid = ''] = form.exec(reason) ?? []
  const [maxFee, cost] = [parseAmount(price)?.wei, parseAmount(paid)?.wei]
  return maxFee === undefined || cost === undefined ? undefined : { lane, to, selector, gasLimit, maxFee, cost }
}
