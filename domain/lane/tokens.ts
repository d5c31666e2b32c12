import { scaled } from '../text/amounts.ts'

export interface WatchedToken {
  readonly token: string
  readonly symbol?: string | undefined
  readonly decimals?: number | undefined
  /** Smallest units of the token, decimal. */
  readonly minimum?: string | undefined
}

export interface TokenReading extends WatchedToken {
  /** Smallest units of the token, decimal. */
  readonly balance: string
}

export function isLow({ balance, minimum }: TokenReading): boolean {
  return minimum !== undefined && BigInt(balance) < BigInt(minimum)
}

/** @param units smallest units, decimal */
export function tokenText({ token, symbol = token, decimals }: WatchedToken, units: string): string {
  return decimals === undefined ? `${units} units of ${symbol}` : `${scaled(units, decimals)} ${symbol}`
}
