import { z } from 'zod'
import { parseAmount } from '../../domain/text/amounts.ts'
import { type Form, forms, isLink } from '../../domain/text/forms.ts'

export const text = (form: RegExp, rule: string) => z.string().regex(form, rule)
/** The schema of a field, with the value that counts if the field is missing. */
export const usually = z._default
export const listOf = <Entry extends z.ZodType>(entry: Entry, least: number, most: number) => z.array(entry).min(least).max(most)
/** Arguments for `refine`: exactly one of two fields must be set. Checked even if other fields are wrong. */
export const oneOf = <A extends string, B extends string>(one: A, other: B) =>
  [
    (fields: { readonly [Field in A | B]?: unknown }) => (fields[one] === undefined) !== (fields[other] === undefined),
    {
      error: `must have ${one} or ${other}, and not both`,
      when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
    },
  ] as const

export function ofForm({ pattern, what, holds }: Form, more = '') {
  const rule = `must be ${what}${more}`
  const schema = text(pattern, rule)
  return holds ? schema.refine((value) => !pattern.test(value) || holds(value), rule) : schema
}

export const lowerCase = (schema: z.ZodType<string, string>) => schema.transform((value) => value.toLowerCase())
const quoted = ' in quotes'
export const between = (least: number, most: number) => z.number().min(least).max(most)
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => between(least, most).int()

export const address = lowerCase(ofForm(forms.address))
export const hash = lowerCase(ofForm(forms.hash))
export const selector = lowerCase(ofForm(forms.selector))
export const lane = lowerCase(ofForm(forms.lane))
export const decimal = ofForm(forms.decimal, quoted)

/** Returns decimal wei, or undefined for other text. Cross-checks use it before the schema changes the values. */
export function weiOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !amountForm.test(value)) return undefined
  return /^[0-9]+$/.test(value) ? value : parseAmount(value)?.wei
}

const amountForm = /^[0-9]{1,77}(\.[0-9]{1,18})?( ?(wei|gwei|ether|coins))?$|^[0-9]{78}$/

/** An amount of coins as text, because numbers in JSON and YAML lose digits. The value is decimal wei. */
const amountOf = (range: string, holds: (wei: bigint) => boolean) => {
  const rule = `must be wei, or a number with its unit like 50 gwei or 0.05 coins, in quotes, ${range}`
  return text(amountForm, rule).transform((value, { issues }) => {
    const found = weiOf(value)
    if (found !== undefined && holds(BigInt(found))) return found
    issues.push({ code: 'custom', message: rule, input: value })
    return z.NEVER
  })
}
export const amount = amountOf('below 2^256', (wei) => wei < 2n ** 256n)
/** Above 0, and below 10^12 coins of 18 decimals. */
export const wei = amountOf('above 0 and below 10^30 wei', (value) => value > 0n && value < 10n ** 30n)
export const sequence = ofForm(forms.u64, quoted)
export const gasUnits = ofForm(forms.gas, quoted)
export const name = ofForm(forms.name)
export const chainName = name.refine((value) => !/^wormhole-[0-9]+$/.test(value), 'means a chain that is not in the config')
export const sourceName = name.refine(
  (value) => !/^wormhole-0|^wormhole-[0-9]{6,}$/.test(value),
  'must be wormhole-<number> with a number of Wormhole',
)
export const callStart = lowerCase(
  text(
    /^0x[0-9a-fA-F]{8}([0-9a-fA-F]{64}){0,64}$/,
    'must be a function selector (0x and 8 hex digits), and after it whole words of 64 hex digits, or none',
  ),
)

export const host = ofForm(forms.host)
export const hostAndPort = ofForm(forms.hostAndPort)
export const variable = text(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, 'must be the name of an environment variable')
export const path = ofForm(forms.path)
export const url = ofForm(forms.url)
export const linkUrl = url.refine(isLink, 'must be https, or http on loopback, without a name or password in it')

export const authorization = text(/^[\x20-\x7e]{1,8192}$/, 'must be one line of printable characters')
