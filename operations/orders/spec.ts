import type { z } from 'zod'
import type { Chain } from '../../chains/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { AccessLevel, OrderSubject } from '../../domain/access.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Order } from '../../domain/order.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Heights } from '../../intake/streams/reports.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Value } from './values.ts'

/** A field of the request's body, and an argument or option of the command. */
export interface Field<Type = unknown> extends Value<Type> {
  /** The notation of commander: `<nonce>` and `[nonce]` are arguments, `--max-fee <amount>` is an option. */
  readonly flag: string
  readonly help: string
  /** The API does not have it. */
  readonly onlyCommand?: true
}

export type Fields = Readonly<Record<string, Field>>

export type Given<Of extends Fields> = { readonly [Name in keyof Of]: Of[Name] extends Field<infer Type> ? Type : never }

/** The process that carries an order out, and the author of the order. */
export interface OrderContext {
  readonly client: TemporalClient
  readonly config: Pick<Config, 'audit' | 'bridges' | 'chains' | 'dataFolder' | 'notifications' | 'streams'>
  /** The name and the reason, if the token covers the subject. Throws ACCESS_SCOPE. */
  readonly allow: (about: OrderSubject) => Order
  /** Runs `use` with a connected chain. Throws INPUT_INVALID for a chain that this process does not read. */
  readonly withChain: <Result>(name: ChainName, use: (chain: Chain) => Promise<Result>) => Promise<Result>
  /** Finalized heights, as far as they are known without a call. */
  readonly heights: Heights
  readonly chain?: string | undefined
  /** The key of a request that may be repeated: the same key starts no second transaction. */
  readonly key?: string | undefined
  /** Builds the call that sends a lane's whole balance of an ERC-20 token. Only on the command line. */
  readonly sweepToken?: (chain: ChainName, transfer: { from: string; to: string; token: string }) => Promise<Intent>
  /** Revocations of tokens that are not listed are accepted: those of an exported file. */
  readonly unlistedTokens?: true
}

export interface OrderResult {
  /** The body of the answer, and the output of `--json`. */
  readonly json: object
  /** For people: `done`, `unchanged` or `asked`, then what the order was about. */
  readonly text: string | Readonly<Record<string, string | number | undefined>>
  /** The command ends with 1. */
  readonly failed?: boolean
}

/** The texts of an order in help and API documentation. */
export interface OrderText {
  /** One sentence without its full stop. */
  readonly summary: string
  readonly details?: string
  readonly notes?: string
  readonly examples: readonly string[]
}

/** An operator's order. Its command and its route are generated from it. */
export interface OrderSpec extends OrderText {
  readonly level: AccessLevel
  /** The path of its POST route. Absent: a command only, for the reason in `onlyCommand`. */
  readonly route?: string
  readonly onlyCommand?: string
  /** The first argument of the command, and the parameter of the path. */
  readonly subject?: 'lane' | 'stream' | 'receiver' | 'transaction'
  readonly fields: Fields
  /** `usual` is the reason if none is given. Absent: the order has no reason. */
  readonly reason?: 'required' | 'optional' | { readonly usual: string }
  /** The body of the answer; its status is 200, or 202 for an order that `pays`. */
  readonly answer?: z.ZodType
  /** The order starts a payment, which a repeated request must not start again. */
  readonly pays?: true
  /** Reports a conflict between valid fields. */
  readonly conflict?: (given: never) => { readonly path: string; readonly message: string } | undefined
  /** Reports a wrong combination of options; the command then ends with 2. */
  readonly misuse?: (given: never) => string | undefined
  /** Absent: the command and the route have steps of their own. */
  readonly run?: (context: OrderContext, subject: string, given: never) => Promise<OrderResult>
}

export function field<Type>(flag: string, value: Value<Type>, help: string): Field<Type> {
  return { ...value, flag, help }
}
