import { scaled } from '../text/amounts.ts'
import type { TransferTransaction } from './attempts.ts'
import type { Delivery } from './transfer.ts'

/** Shown to people. No decision depends on it. */
export interface TransferContent {
  /** Decimal, in the message's units. Token bridge: at most 8 decimals. Native bridge: the token's smallest unit. */
  readonly amount: string
  /** Decimals of `amount`. Absent: not known, and `amount` is shown as raw units. */
  readonly decimals?: string
  /** `<chain id>/<64 hex digits>`, as in the asset list. */
  readonly token: string
  readonly recipient: string
}

/** A payment that was made on the source for the delivery. Decimal. */
export interface Payment {
  /** Wei of the source's coin. */
  readonly paid: string
  /** The payment in wei of the target's coin, at the prices of the quote. */
  readonly worth: string
  /** Wei of the target's coin that the delivery carries. */
  readonly coins: string
}

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
 * Reads the content from a memo. Omits every malformed field, because anyone with access to Temporal can write a memo.
 */
export function contentIn(memo: unknown): KnownContent {
  const given = Object(memo) as Readonly<Record<string, unknown>>
  const known = Object.entries(shapes).flatMap(([name, shape]) => {
    const value = given[name]
    return typeof value === 'string' && shape.test(value) ? [[name, value]] : []
  })
  return Object.fromEntries(known) as KnownContent
}

/** The content, with the amount as people read it. */
export function shownContent(memo: unknown): KnownContent & { readonly tokenAmount?: string } {
  const content = contentIn(memo)
  const { amount, decimals } = content
  if (amount === undefined) return content
  return { ...content, tokenAmount: decimals === undefined ? `${amount} raw units` : scaled(amount, Number(decimals)) }
}

/**
 * Profit in wei of the target's coin: the payment minus the coins and the gas of Portage's own transactions. Returns
 * undefined if nobody paid, or if the transfer is not delivered.
 */
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
