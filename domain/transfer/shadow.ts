import { decimal, object, text } from '../field-checks.ts'
import { exactAmountText, gweiText } from '../text/amounts.ts'

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

export function shadowReason({ lane, to, selector, gasLimit, maxFee, cost }: ShadowCall): string {
  const price = `${gasLimit} gas at up to ${gweiText(maxFee)}`
  return `${lane} would call ${selector} of ${to} with ${price}; it costs ${exactAmountText(cost, undefined)} now`
}

const isShadowCall = object({ lane: text(), to: text(), selector: text(), gasLimit: decimal, maxFee: decimal, cost: decimal })

/** Undefined if the call is missing or forged. Anyone with access to Temporal can start a workflow with any status. */
export function shadowCallOf(status: unknown): ShadowCall | undefined {
  const { shadowCall } = Object(status) as { readonly shadowCall?: ShadowCall }
  try {
    isShadowCall(shadowCall, '')
    return shadowCall
  } catch {
    return undefined
  }
}
