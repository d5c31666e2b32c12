import { z } from 'zod'

/** Text that matches `form`. `rule` is the error message, printed after the field's path. */
export const text = (form: RegExp, rule: string) => z.string().regex(form, rule)
/** A rule for `refine`: exactly one of these two fields is set. The rule applies even if other fields are wrong. */
export const oneOf = <A extends string, B extends string>(one: A, other: B) =>
  [
    (fields: { readonly [Field in A | B]?: unknown }) => (fields[one] === undefined) !== (fields[other] === undefined),
    {
      error: `must have ${one} or ${other}, and not both`,
      when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
    },
  ] as const

const lowerCase = (form: RegExp, rule: string) => text(form, rule).transform((value) => value.toLowerCase())
export const between = (least: number, most: number) => z.number().min(least).max(most)
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => between(least, most).int()

export const address = lowerCase(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
export const decimal = text(/^[0-9]{1,78}$/, 'must be a decimal number in quotes').refine(
  (value) => !/^[0-9]{1,78}$/.test(value) || BigInt(value) < 2n ** 256n,
  'must be below 2^256',
)
/** Positive wei as text, because JSON and YAML numbers lose digits. At most a thousand billion coins of 18 decimals. */
export const wei = text(/^[1-9][0-9]{0,29}$/, 'must be a decimal number of wei in quotes, above 0')
export const sequence = text(/^(0|[1-9][0-9]{0,19})$/, 'must be a decimal number in quotes, without leading zeros').refine(
  (value) => !/^[0-9]{1,20}$/.test(value) || BigInt(value) < 2n ** 64n,
  'must be below 2^64',
)
export const gasUnits = text(/^[0-9]{1,20}$/, 'must be a whole number of gas units in quotes')
export const name = text(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower case letters, digits and dashes')
  // A lookup by this name would always find something, since every JavaScript object has this property.
  .refine((value) => value !== 'constructor', 'is a word of JavaScript')
/** `wormhole-<number>` is reserved for sources outside the config. */
export const chainName = name.refine((value) => !/^wormhole-[0-9]+$/.test(value), 'means a chain that is not in the config')
export const sourceName = name.refine(
  (value) => !/^wormhole-0|^wormhole-[0-9]{6,}$/.test(value),
  'must be wormhole-<number> with a number of Wormhole',
)
export const callStart = lowerCase(
  /^0x[0-9a-fA-F]{8}([0-9a-fA-F]{64}){0,64}$/,
  'must be a function selector (0x and 8 hex digits), and after it whole words of 64 hex digits, or none',
)

export const hostAndPort = text(/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$/, 'must be host:port').refine(
  (value) => isPort(value.slice(value.lastIndexOf(':') + 1)),
  'must have a port from 1 to 65535',
)
export const variable = text(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, 'must be the name of an environment variable')

const isPort = (text: string) => Number(text) >= 1 && Number(text) <= 65_535
export const url = z.url({ protocol: /^https?$/ })
export const linkUrl = url.refine(isLink, 'must be https, or http on loopback, without a name or password in it')

/** Whether a text is an https URL, or http on loopback, without user or password. */
export function isLink(text: string): boolean {
  // This is tested first, because the URL parser would drop line breaks and add missing slashes.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}

export const selector = lowerCase(/^0x[0-9a-fA-F]{8}$/, 'must be a function selector: 0x and 8 hex digits')
