import type { z } from 'zod'
import type { Chain } from '../../chains/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { AccessLevel, OrderSubject } from '../../domain/access.ts'
import { type Facts, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Order } from '../../domain/order.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Heights } from '../../intake/streams/reports.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { optional, type Value, values } from './values.ts'

export interface Field<Type = unknown> extends Value<Type> {
  /** In Commander's form: `<nonce>` and `[nonce]` are arguments, `--max-fee <amount>` is an option. */
  readonly flag: string
  readonly help: string
  readonly onlyCommand?: true
}

export type Fields = Readonly<Record<string, Field>>

export type Given<Of extends Fields> = { readonly [Name in keyof Of]: Of[Name] extends Field<infer Type> ? Type : never }

export interface OrderContext {
  readonly client: TemporalClient
  readonly config: Pick<Config, 'audit' | 'bridges' | 'chains' | 'dataFolder' | 'notifications' | 'streams'>
  /** Throws ACCESS_SCOPE. */
  readonly allow: (about: OrderSubject) => Order
  /** Throws INPUT_INVALID for a chain that this process does not read. */
  readonly withChain: <Result>(name: ChainName, use: (chain: Chain) => Promise<Result>) => Promise<Result>
  readonly heights: Heights
  readonly chain?: string | undefined
  /** Idempotency key of a payment. A second request with the same key does not start a second transaction. */
  readonly key?: string | undefined
  readonly sweepToken?: (chain: ChainName, transfer: { from: string; to: string; token: string }) => Promise<Intent>
  /** Set for an exported file, which may revoke tokens that the settings do not list. */
  readonly unlistedTokens?: true
}

export interface OrderResult {
  readonly json: object
  /** Output for people. Most records begin with `done`, `unchanged` or `asked`. */
  readonly text: string | Readonly<Record<string, string | number | undefined>>
  readonly failed?: boolean
}

export interface OrderText {
  readonly summary: string
  readonly details?: string
  readonly notes?: string
  readonly examples: readonly string[]
}

/** The command and the route of an order are generated from this definition. */
export interface OrderSpec extends OrderText {
  readonly level: AccessLevel
  readonly route?: string
  readonly onlyCommand?: string
  readonly subject?: 'lane' | 'stream' | 'receiver' | 'transaction'
  readonly fields?: Fields
  readonly reason?: 'required' | 'optional' | { readonly usual: string }
  readonly answer?: z.ZodType
  /** The order sends coins, so a repeated request must not pay again. */
  readonly pays?: true
  readonly conflict?: (given: never) => { readonly path: string; readonly message: string } | undefined
  readonly misuse?: (given: never) => string | undefined
  /** Absent if the command and the route do different things. */
  readonly run?: (context: OrderContext, subject: string, given: never) => Promise<OrderResult>
}

export interface AskedOrder<Of extends Fields, Asked> extends OrderText {
  readonly fields?: Of
  readonly ask: (given: Given<Of>) => Asked
}

export function field<Type>(flag: string, value: Value<Type>, help: string): Field<Type> {
  return { ...value, flag, help }
}

export function option<Type>(flag: string, value: Value<Type>, help: string): Field<Type | undefined> {
  return field(flag, optional(value), help)
}

export const placeFields = {
  bridge: option('--bridge <name>', values.chainName, 'only transfers over this bridge'),
  chain: option('--chain <name>', values.chainName, 'only transfers from or to this chain'),
  sourceChain: option('--source <chain>', values.chainName, 'only transfers from this chain'),
  targetChain: option('--target <chain>', values.chainName, 'only transfers to this chain'),
}

/** `textOf` names the scope for people. */
export function ofOneScope<Of extends Fields, Orders>(fields: Of, textOf: (given: Given<Of>) => string, orders: Orders) {
  return {
    fields,
    orders,
    done: (given: Given<Of>) => `changed: ${textOf(given)}`,
    same: (given: Given<Of>) => `nothing to change: ${textOf(given)}`,
  }
}

export type Unsigned<One> = One extends unknown ? Omit<One, 'order'> : never

export const changesNothing = 'the order would change nothing'

export function invalid(detail: string, facts: Facts = {}, cause?: unknown): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail, facts, cause })
}
