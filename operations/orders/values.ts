import { z } from 'zod'
import type { FeeScope } from '../../domain/fees/fees.ts'
import { address, between, decimal, gasUnits, hash, lane, lowerCase, name, ofForm, sequence, whole } from '../../config/load/values.ts'
import { parseAge } from '../../domain/text/age.ts'
import { forms, parseTime } from '../../domain/text/forms.ts'
import type { Amount } from '../../domain/text/amounts.ts'

export interface Value<Type = unknown> {
  /** Names the parser in `cli/arguments/options.ts`. `flag`, `choice` and `orders` need no parser. */
  readonly kind: keyof typeof schemas | 'choice' | 'orders' | 'within'
  readonly schema: z.ZodType<Type>
  readonly choices?: readonly string[]
  readonly repeats?: true
  readonly bounds?: readonly [from: number, to: number]
  readonly usual?: string
}

export { sequence as sequenceSchema, name as nameSchema } from '../../config/load/values.ts'

export const textSchema = (most = 300) => z.string().min(1).max(most)
export const countSchema = (least: number, most: number) =>
  z.union([z.number(), ofForm(forms.count).transform(Number)]).pipe(z.number().int().min(least).max(most))
export const limitSchema = (most: number, usual: number) => countSchema(1, most).default(usual)

export const feeScopeSchema: z.ZodType<FeeScope> = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('transfer'), id: textSchema() }),
    z.strictObject({ kind: z.literal('lane'), lane: textSchema() }),
    z.strictObject({ kind: z.literal('call'), chain: name, contract: textSchema(), selector: textSchema().optional() }),
    z.strictObject({ kind: z.literal('chain'), chain: name }),
    z.strictObject({ kind: z.literal('global') }),
  ])
  .meta({ id: 'FeeScope' })

const timeSchema = z.iso.datetime({ offset: true }).transform((text, context) => {
  const at = parseTime(text)
  if (at === undefined) context.addIssue('must be a time from 1970 on')
  return at ?? z.NEVER
})

const schemas = {
  number: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  u64: sequence,
  wei: decimal,
  amount: decimal.transform((wei): Amount => ({ wei: String(BigInt(wei)) })),
  gas: gasUnits,
  gasFactor: between(1, 5),
  tipFactor: between(0.5, 10),
  bumpPercent: whole(10, 100),
  hours: z.number().positive().max(8_760),
  address,
  hash,
  bytes: lowerCase(ofForm(forms.bytes)).pipe(z.string().max(100_000)),
  /** ms since the epoch. Requests have ISO 8601 in UTC. */
  time: timeSchema,
  pastTime: timeSchema,
  /** ms. Requests have a text such as `2h`. */
  age: ofForm(forms.age).transform((text) => parseAge(text) ?? 0),
  code: ofForm(forms.code),
  chainName: name,
  lane,
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
