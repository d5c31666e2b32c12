import { amountText, gasPriceText } from '../../../domain/text/amounts.ts'

/** `12 345`, with thin spaces. A dash if there is no value. A text that is not a whole number stays as it is. */
export function countText(value: number | string | undefined): string {
  const text = String(value ?? '–')
  return /^-?\d{1,100}$/.test(text) ? text.replaceAll(/\B(?=(?:\d{3}){1,33}$)/g, '\u202f') : text
}

export function coinsText(wei: string | number | undefined, coin: string | undefined): string {
  return isAmount(wei) ? grouped(amountText(String(wei), coin)) : ''
}

export function priceText(wei: string | undefined): string {
  return isAmount(wei) ? grouped(gasPriceText(wei)) : ''
}

function isAmount<Wei extends string | number>(wei: Wei | undefined): wei is Wei {
  return wei !== undefined && /^\d+$/.test(String(wei))
}

export function grouped(amount: string): string {
  return amount.replace(/^\d+/, countText)
}

/** `part` of `whole`, from 0 to 1. Undefined if either is not a number, or if `whole` is not above 0. */
export function shareOf(part: string | number | undefined, whole: string | number | undefined): number | undefined {
  const [of, all] = [Number(part), Number(whole)]
  if (part === undefined || whole === undefined || !Number.isFinite(of) || !Number.isFinite(all) || all <= 0) return undefined
  return Math.min(1, Math.max(0, of / all))
}
