import { type Form, isOf } from './text/forms.ts'

/** Checks a value from outside. Throws an Error that begins with the path of the field and never contains the value. */
export type Check = (value: unknown, path: string) => void

export function rule(holds: (value: unknown) => boolean, what: string): Check {
  return (value, path) => {
    if (!holds(value)) throw new Error(`${path}: must be ${what}`)
  }
}

export function pattern(expression: RegExp, what: string): Check {
  return rule((value) => typeof value === 'string' && expression.test(value), what)
}

export function ofForm(form: Form): Check {
  return rule((value) => isOf(form, value), form.what)
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
export const whole = rule(isWhole, 'a whole number')
/** ms since the epoch, up to the year 9999. Formatted, later times have more digits than a year may have, or throw. */
export const time = rule((value) => isWhole(value) && value <= 253_402_300_799_999, 'a time in ms')
export const anyText = pattern(/^/, 'a text')
export const flag = rule((value) => typeof value === 'boolean', 'true or false')
export const decimal = pattern(/^[0-9]{1,78}$/, 'a decimal number in quotes')

export function text(longest = Infinity): Check {
  return (value, path) => {
    if (typeof value !== 'string' || value.trim() === '') throw new Error(`${path}: must be a text`)
    if (value.length > longest) throw new Error(`${path}: must have at most ${longest} characters`)
  }
}

export function oneOf(...allowed: readonly string[]): Check {
  return rule((value) => allowed.some((one) => one === value), allowed.join(' or '))
}

export function optional(one: Check): Check {
  return (value, path) => {
    if (value !== undefined) one(value, path)
  }
}

export function listOf(one: Check, longest = Infinity): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw new Error(`${path}: must be a list`)
    if (value.length > longest) throw new Error(`${path}: must be a list of at most ${longest}`)
    // `Array.from` fills the holes of a sparse array, which `forEach` would skip.
    Array.from<unknown>(value).forEach((item, index) => one(item, `${path}[${index}]`))
  }
}

/** Ignores fields without a check. A value that is not an object counts as an object without fields. */
export function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    for (const [name, one] of Object.entries(checks)) one(fieldOf(value, name), at(path, name))
  }
}

export function object(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    fields(checks)(value, path)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path}: must be an object`)
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(checks, name))
    if (unknown !== undefined) throw new Error(`${at(path, printable(unknown))}: unknown; known: ${Object.keys(checks).join(', ')}`)
  }
}

export function byKind(kinds: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    const kind = fieldOf(value, 'kind')
    const one = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (!one) throw new Error(`${path}.kind: unknown`)
    one(value, path)
  }
}

const printable = (name: string) => name.slice(0, 40).replaceAll(/[^\w-]/g, '_')

function at(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function fieldOf(value: unknown, name: string): unknown {
  return (Object(value) as Record<string, unknown>)[name]
}
