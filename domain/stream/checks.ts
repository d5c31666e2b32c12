import { type Check, pattern, rule, text } from '../field-checks.ts'

const highest = 2n ** 64n - 1n

/** Whether the value is a whole number below 2^64 without leading zeros: texts of numbers are compared. */
export const isU64 = (value: unknown): value is string =>
  typeof value === 'string' && /^(0|[1-9][0-9]{0,19})$/.test(value) && BigInt(value) <= highest
export const u64 = rule(isU64, 'a whole number below 2^64 in quotes')
export const hash = text(128)
export const words = text(1_000)
export const errorCode = pattern(/^[A-Z_]{1,32}$/, 'an error code')
export const chainName = pattern(/^[a-z][a-z0-9-]{0,30}$/, 'the name of a chain')

/** At most 1,000 ascending intervals that neither touch nor overlap. */
export const intervals: Check = (value, path) => {
  if (!Array.isArray(value) || value.length > 1_000) throw new Error(`${path}: must be a list of at most 1000 intervals`)
  let below = -2n
  value.forEach((one: unknown, index) => {
    const [from = '', to = ''] = (Array.isArray(one) ? one : []) as readonly string[]
    u64(from, `${path}[${index}][0]`)
    u64(to, `${path}[${index}][1]`)
    if (BigInt(from) > BigInt(to)) throw new Error(`${path}[${index}]: ends before it begins`)
    if (BigInt(from) <= below + 1n) throw new Error(`${path}[${index}]: must be above the one before, and apart from it`)
    below = BigInt(to)
  })
}
