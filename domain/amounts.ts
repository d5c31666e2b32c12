import type { LaneId } from './lane/lane-id.ts'

/** The coins of well-known EVM networks whose coin is not ETH, by network id. Of a network that is not here the coin is shown as ETH. */
const coins: ReadonlyMap<string, string> = new Map(
  Object.entries({
    RBTC: [30],
    TLOS: [40],
    XDC: [50],
    BNB: [56, 97, 204],
    XDAI: [100],
    POL: [137, 80002],
    S: [146],
    OKB: [196],
    FTM: [250],
    HBAR: [295],
    FIL: [314],
    FLOW: [747],
    HYPE: [999],
    CFX: [1030],
    METIS: [1088],
    GLMR: [1284],
    MOVR: [1285],
    SEI: [1329],
    RON: [2020],
    KAVA: [2222],
    MNT: [5000],
    KAIA: [8217],
    XPL: [9745],
    CELO: [42220],
    AVAX: [43113, 43114],
    BERA: [80094],
    MON: [143, 10143],
  }).flatMap(([coin, networks]) => networks.map((id) => [String(id), coin] as const)),
)

/** The coin of an EVM network: its symbol. */
export function coinOf(networkId: string | number): string {
  return coins.get(String(networkId)) ?? 'ETH'
}

/** The coin that a lane pays with. */
export function coinOfLane(lane: LaneId): string {
  return coinOf(/^[a-z]+-([0-9]+):/.exec(lane)?.[1] ?? '')
}

/** Digits behind the point of an amount in this unit. Every coin of an EVM network has 18. */
const decimalsOf = { wei: 0, gwei: 9, ether: 18 } as const

/** An amount as it was typed. */
export interface Amount {
  /** Decimal. */
  readonly wei: string
  /** The coin that it named, in capitals; absent: a unit that is the same for all coins. */
  readonly coin?: string
}

/** Longest number before the point, digits: 2^256 has 78. */
const mostDigits = 77

/**
 * `5gwei`, `0.05 ETH`, `0.05 ether` (of whatever coin), `1000000 wei`; a number without a unit is wei. Undefined: it is none of these, or has a fraction of a wei.
 */
export function parseAmount(text: string): Amount | undefined {
  const [, whole, fraction = '', unit = 'wei'] = /^([0-9]+)(?:\.([0-9]+))?\s*([a-z]{1,10})?$/i.exec(text.trim()) ?? []
  if (whole === undefined || whole.length > mostDigits) return undefined
  const known = Object.hasOwn(decimalsOf, unit.toLowerCase()) ? (unit.toLowerCase() as keyof typeof decimalsOf) : undefined
  const coin = unit.toUpperCase()
  if (!known && !isCoin(coin)) return undefined
  const decimals = known ? decimalsOf[known] : decimalsOf.ether
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return undefined
  return { wei: String(BigInt(whole + digits.padEnd(decimals, '0'))), ...(!known && { coin }) }
}

function isCoin(symbol: string): boolean {
  return symbol === 'ETH' || [...coins.values()].includes(symbol)
}

/** Of a price per unit of gas, exact: `1.5 gwei`. @param wei decimal */
export function gweiText(wei: string): string {
  return `${scaled(wei, decimalsOf.gwei)} gwei`
}

/** Exact, as `parseAmount` reads it: `0.05 BNB`. @param wei decimal */
export function coinText(wei: string, coin: string): string {
  return `${scaled(wei, decimalsOf.ether)} ${coin}`
}

/** Digits behind the point of a balance. */
const shownDecimals = 6

/** Of a balance: cut to six digits behind the point, `9.998765 ETH`; one that is less than the last of them is exact. @param wei decimal */
export function balanceText(wei: string, coin: string): string {
  const [whole = '0', fraction = ''] = scaled(wei, decimalsOf.ether).split('.')
  const shown = fraction.slice(0, shownDecimals).replace(/0+$/, '')
  if (whole === '0' && shown === '' && fraction !== '') return `${BigInt(wei)} wei`
  return `${whole}${shown && `.${shown}`} ${coin}`
}

function scaled(wei: string, decimals: number): string {
  const digits = String(BigInt(wei)).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return digits.slice(0, digits.length - decimals) + (fraction && `.${fraction}`)
}
