import { trimEnd } from './trim-end.ts'

const decimalsOf = { wei: 0, gwei: 9, ether: 18 } as const

const anyCoin = 'native coins'

export interface Amount {
  readonly wei: string
  /** The symbol that was typed, in capitals. Absent for wei, gwei, ether and `native coins`. */
  readonly coin?: string
}

/** Maximum number of digits. 2^256 has 78 digits, so every number of 77 digits is below it. */
const mostDigits = 77

/** Parses `5gwei`, `0.05 ETH` or a number of wei. Undefined for a fraction of a wei or any other text. */
export function parseAmount(text: string): Amount | undefined {
  const [, whole, fraction = '', unit = 'wei'] = /^([0-9]+)(?:\.([0-9]+))?\s*((?:native )?[a-z]{1,10})?$/i.exec(text.trim()) ?? []
  if (whole === undefined || whole.length > mostDigits) return undefined
  const name = unit.toLowerCase().replace(/^(native )?coins?$/, 'ether')
  if (name.includes(' ')) return undefined
  const known = Object.hasOwn(decimalsOf, name) ? (name as keyof typeof decimalsOf) : undefined
  const decimals = decimalsOf[known ?? 'ether']
  const digits = trimEnd(fraction, '0')
  if (digits.length > decimals) return undefined
  return { wei: String(BigInt(whole + digits.padEnd(decimals, '0'))), ...(!known && { coin: name.toUpperCase() }) }
}

const leastGwei = 10n ** 6n
const leastCoins = 10n ** 14n
const mostSignificant = 6

/** `3.2 gwei`: at most six significant digits, never rounded up. */
export function amountText(wei: string, coin: string | undefined): string {
  return inUnit(wei, coin, significant)
}

export function exactAmountText(wei: string, coin: string | undefined): string {
  return inUnit(wei, coin, (digits) => digits)
}

export function gasPriceText(wei: string): string {
  const value = BigInt(wei)
  return value > 0n && value < leastGwei ? `${value} wei` : `${significant(scaled(wei, decimalsOf.gwei))} gwei`
}

export function gweiText(wei: string): string {
  return `${scaled(wei, decimalsOf.gwei)} gwei`
}

function inUnit(wei: string, coin: string = anyCoin, shown: (digits: string) => string): string {
  const value = BigInt(wei)
  if (value < 0n) return `-${inUnit(String(-value), coin, shown)}`
  if (value === 0n) return `0 ${coin}`
  if (value < leastGwei) return `${value} wei`
  return value < leastCoins ? `${shown(scaled(wei, decimalsOf.gwei))} gwei` : `${shown(scaled(wei, decimalsOf.ether))} ${coin}`
}

/** Exact decimal: 1500000 units with 6 decimals are `1.5`. */
export function scaled(units: string, decimals: number): string {
  const digits = String(BigInt(units)).padStart(decimals + 1, '0')
  const fraction = trimEnd(digits.slice(digits.length - decimals), '0')
  return digits.slice(0, digits.length - decimals) + (fraction && `.${fraction}`)
}

function significant(digits: string): string {
  const [whole = '0', fraction = ''] = digits.split('.')
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  const most = whole === '0' ? zeros + mostSignificant : Math.max(0, mostSignificant - whole.length)
  const rest = trimEnd(fraction.slice(0, most), '0')
  return rest === '' ? whole : `${whole}.${rest}`
}

export const dollarDecimals = 10

/** Reads dollars like `3000.25` with at most 10 digits after the point. The result has 10 decimals. */
export function dollarsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(dollarDecimals, '0'))
}
