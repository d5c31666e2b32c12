/** A whole number with thin groups of three: `12 345`. A text of digits may be of any length. */
export function countText(value: number | string): string {
  const text = String(value)
  return /^-?\d+$/.test(text) ? text.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f') : text
}

const decimals = 18

/**
 * Wei as coins of 18 decimals: six significant digits at most, cut and not rounded, so that no balance is shown higher than it is. Below a billionth of a
 * coin: in wei. Empty for what is no amount.
 */
export function coinText(wei: string | number | undefined): string {
  if (wei === undefined || !/^\d+$/.test(String(wei))) return ''
  const value = BigInt(wei)
  if (value === 0n) return '0'
  if (value < 10n ** 9n) return `${countText(String(value))} wei`
  const whole = value / 10n ** 18n
  const fraction = String(value % 10n ** 18n).padStart(decimals, '0')
  const shown = whole > 0n ? Math.max(0, 6 - String(whole).length) : /^0*/.exec(fraction)![0].length + 4
  const rest = fraction.slice(0, shown).replace(/0+$/, '')
  return rest === '' ? countText(String(whole)) : `${countText(String(whole))}.${rest}`
}

/** A price per unit of gas: `5.2 gwei`, or wei below a thousandth of that. */
export function gasPriceText(wei: string | undefined): string {
  if (wei === undefined || !/^\d+$/.test(wei)) return ''
  const value = BigInt(wei)
  if (value < 10n ** 6n) return `${countText(wei)} wei`
  const thousandths = value / 10n ** 6n
  const rest = String(thousandths % 1_000n)
    .padStart(3, '0')
    .replace(/0+$/, '')
  return `${countText(String(thousandths / 1_000n))}${rest && `.${rest}`} gwei`
}

/** How much of a limit is used, 0 to 1; undefined where one of the two is not a number or there is no limit. */
export function shareOf(part: string | number | undefined, whole: string | number | undefined): number | undefined {
  const [of, all] = [Number(part), Number(whole)]
  if (part === undefined || whole === undefined || !Number.isFinite(of) || !Number.isFinite(all) || all <= 0) return undefined
  return Math.min(1, Math.max(0, of / all))
}
