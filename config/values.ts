import { z } from 'zod'

export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
  .transform((value) => value.toLowerCase())
export const decimal = z.string().regex(/^[0-9]{1,78}$/, 'must be a decimal number in quotes')
/** Wei above 0, as text: numbers of JSON and YAML lose digits. At most a thousand billion coins of 18 decimals. */
export const wei = z.string().regex(/^[1-9][0-9]{0,29}$/, 'must be a decimal number of wei in quotes, above 0')
export const whole = (least: number) => z.number().int().min(least)
export const milliseconds = whole(0)
export const name = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower case letters, digits and dashes')
export const url = z.url({ protocol: /^https?$/ })

export const selector = z
  .string()
  .regex(/^0x[0-9a-fA-F]{8}$/, 'must be a function selector: 0x and 8 hex digits')
  .transform((value) => value.toLowerCase())
