import { z } from 'zod'
import type { FeeScope } from '../../domain/fees/fees.ts'
import { agePattern, parseAge } from '../../domain/text/age.ts'
import type { Amount } from '../../domain/text/amounts.ts'
import type { SettingsOrder } from '../../domain/settings/settings.ts'

export interface Value<Type = unknown> {
  /** Selects the parser in `cli/arguments/options.ts`. `flag`, `choice` and `orders` need no parser. */
  readonly kind: keyof typeof schemas | 'choice' | 'orders' | 'within'
  readonly schema: z.ZodType<Type>
  readonly choices?: readonly string[]
  readonly repeats?: true
  readonly bounds?: readonly [from: number, to: number]
  readonly usual?: string
}

/** u64, decimal string, since JSON numbers lose digits above 2^53. */
export const sequenceSchema = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,19})$/, 'must be a decimal number in quotes')
  .refine((value) => !/^[0-9]{1,20}$/.test(value) || BigInt(value) < 2n ** 64n, 'must be at most 18446744073709551615 (u64)')

export const nameSchema = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be a name: lower case letters, digits and dashes')
export const textSchema = (most = 300) => z.string().min(1).max(most)
/** The query parameter that limits a list. */
export const limitSchema = (most: number, usual: number) => z.coerce.number().int().min(1).max(most).default(usual)
const weiSchema = z.string().regex(/^[0-9]{1,77}$/, 'must be a decimal number of wei in quotes')

export const feeScopeSchema: z.ZodType<FeeScope> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('transfer'), id: textSchema() }),
  z.strictObject({ kind: z.literal('lane'), lane: textSchema() }),
  z.strictObject({ kind: z.literal('call'), chain: nameSchema, contract: textSchema(), selector: textSchema().optional() }),
  z.strictObject({ kind: z.literal('chain'), chain: nameSchema }),
  z.strictObject({ kind: z.literal('global') }),
])

const schemas = {
  number: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  u64: sequenceSchema,
  wei: weiSchema,
  amount: weiSchema.transform((wei): Amount => ({ wei: String(BigInt(wei)) })),
  gas: z.string(),
  gasFactor: z.number(),
  hours: z.number().positive().max(8_760),
  address: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
    .toLowerCase(),
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash: 0x and 64 hex digits')
    .toLowerCase(),
  bytes: z
    .string()
    .max(100_000)
    .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be bytes in hex, with 0x')
    .toLowerCase(),
  /** ms since the epoch. Requests give ISO 8601 in UTC. */
  pastTime: z.iso.datetime().transform((iso) => Date.parse(iso)),
  time: z.iso.datetime({ offset: true }).transform((iso) => Date.parse(iso)),
  /** Read from a text such as `2h`. The result is in ms. */
  age: z
    .string()
    .regex(agePattern, 'must be a number with s, m, h or d, like 90s or 2h')
    .transform((text) => parseAge(text) ?? 0),
  code: z.string().regex(/^[A-Z][A-Z0-9_]{1,60}$/, 'must be a code of docs/reference/errors.md'),
  chainName: nameSchema,
  feeScope: feeScopeSchema,
  text: textSchema(),
  flag: z.boolean(),
}

type Schemas = typeof schemas

export const values = Object.fromEntries(Object.entries(schemas).map(([kind, schema]) => [kind, { kind, schema }])) as unknown as {
  readonly [Kind in keyof Schemas]: Value<z.output<Schemas[Kind]>>
}

export function within(from: number, to: number): Value<number> {
  return { kind: 'within', schema: z.number().int().min(from).max(to), bounds: [from, to] }
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Value<Choice> {
  return { kind: 'choice', schema: z.enum(choices), choices }
}

export function optional<Type>(value: Value<Type>): Value<Type | undefined> {
  return { ...value, schema: value.schema.optional() }
}

export function usually<Type>(value: Value<Type>, usual: Type): Value<Type> {
  return { ...value, schema: value.schema.optional().default(usual as never) }
}

export const confirmation: Value<true> = { kind: 'flag', schema: z.literal(true) }

/** Several orders, which a command line reads from a file. */
export function settingsOrders(schema: z.ZodType<SettingsOrder>): Value<SettingsOrder[]> {
  return { kind: 'orders', schema: z.array(schema).min(1).max(100) }
}
