import { amountText, gasPriceText } from '../../../domain/text/amounts.ts'

/** A whole number with thin groups of three: `12 345`. A text of digits may be of any length. */
export function countText(value: number | string): string {
  const text = String(value)
  return /^-?\d+$/.test(text) ? text.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f') : text
}

/** Wei as `amountText` of the domain says them, digits in groups; empty for what is no amount. @param coin symbol, where it is known */
export function coinsText(wei: string | number | undefined, coin: string | undefined): string {
  return isAmount(wei) ? grouped(amountText(String(wei), coin)) : ''
}

/** The same for a price per unit of gas. */
export function priceText(wei: string | undefined): string {
  return isAmount(wei) ? grouped(gasPriceText(wei)) : ''
}

/** Answers of a newer API may be anything. */
function isAmount<Wei extends string | number>(wei: Wei | undefined): wei is Wei {
  return wei !== undefined && /^\d+$/.test(String(wei))
}

/** With groups before the point. */
function grouped(amount: string): string {
  return amount.replace(/^\d+/, countText)
}

/** How much of a limit is used, 0 to 1; undefined where one of the two is not a number or there is no limit. */
export function shareOf(part: string | number | undefined, whole: string | number | undefined): number | undefined {
  const [of, all] = [Number(part), Number(whole)]
  if (part === undefined || whole === undefined || !Number.isFinite(of) || !Number.isFinite(all) || all <= 0) return undefined
  return Math.min(1, Math.max(0, of / all))
}
