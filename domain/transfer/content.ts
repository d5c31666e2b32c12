import { scaled } from '../text/amounts.ts'
import type { TransferTransaction } from './attempts.ts'
import type { Delivery } from './transfer.ts'

/** Facts about a transfer for people. No decision depends on them. */
export interface TransferContent {
  /** Decimal. Token bridge: at most 8 decimals, as in the message. Native bridge: smallest units of the token. */
  readonly amount: string
  /** Decimals of `amount`. Absent: unknown, and people see `amount` in raw units. */
  readonly decimals?: string
  /** `<chain id>/<64 hex digits>`, as in `assets` of the config. */
  readonly token: string
  readonly recipient: string
}

/** A payment that was made on the source for the delivery. Numbers are decimal. */
export interface Payment {
  /** Wei of the source's coin. */
  readonly paid: string
  /** Value of the payment in wei of the target's coin, at the quote's prices. */
  readonly worth: string
  /**
   * Wei of the target's coin that the delivery passes on: to the called contract, and to accounts that the request
   * names.
   */
  readonly coins: string
}

/**
 * Minimum gas that a payment for a delivery must cover. A delivery that verifies 13 guardians' signatures needs more,
 * and so does a burn of CCTP. Without this limit, requests that nobody can deliver would cost nothing, and would hold
 * up other requests.
 */
export const leastGasLimit = 100_000n

export type KnownContent = Partial<TransferContent & Payment> & { readonly sourceTxHash?: string }

const digits = /^[0-9]{1,78}$/
const word = /^[\w./:-]{1,120}$/
const shapes = {
  amount: digits,
  decimals: /^([0-9]|[1-6][0-9]|7[0-7])$/,
  token: word,
  recipient: word,
  sourceTxHash: word,
  paid: digits,
  worth: digits,
  coins: digits,
} as const satisfies Record<keyof KnownContent, RegExp>

/**
 * The content in a workflow's memo. Anyone with access to Temporal can write a memo, so malformed fields are left out.
 */
export function contentIn(memo: unknown): KnownContent {
  const given = Object(memo) as Readonly<Record<string, unknown>>
  const known = Object.entries(shapes).flatMap(([name, shape]) => {
    const value = given[name]
    return typeof value === 'string' && shape.test(value) ? [[name, value]] : []
  })
  return Object.fromEntries(known) as KnownContent
}

export function shownContent(memo: unknown): KnownContent & { readonly tokenAmount?: string } {
  const content = contentIn(memo)
  const { amount, decimals } = content
  if (amount === undefined) return content
  return { ...content, tokenAmount: decimals === undefined ? `${amount} raw units` : scaled(amount, Number(decimals)) }
}

/** Payment minus passed-on coins and gas, wei of the target. Undefined without payment or delivery. */
export function profitOf(
  { worth, coins = '0' }: KnownContent,
  { delivery, transactions = [] }: { readonly delivery?: Delivery; readonly transactions?: readonly TransferTransaction[] },
): string | undefined {
  if (worth === undefined || !delivery) return undefined
  const gas = transactions.flatMap(({ gasPaid }) => gasPaid ?? [])
  const all = gas.length > 0 ? gas : [delivery.gasPaid ?? '0']
  const sent = delivery.ours ? BigInt(coins) : 0n
  return String(all.reduce((rest, wei) => rest - BigInt(wei), BigInt(worth) - sent))
}
