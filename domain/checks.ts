/** Checks one value of a request from outside. Throws Error that names the path of the field. */
export type Check = (value: unknown, path: string) => void

function check(holds: (value: unknown) => boolean, what: string): Check {
  return (value, path) => {
    if (!holds(value)) throw new Error(`${path}: must be ${what}`)
  }
}

export const whole = check((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number')
export const anyText = check((value) => typeof value === 'string', 'a text')
export const text = check((value) => typeof value === 'string' && value !== '', 'a text')
export const flag = check((value) => typeof value === 'boolean', 'true or false')
export const decimal = check((value) => typeof value === 'string' && /^[0-9]{1,78}$/.test(value), 'a decimal number in quotes')

export function oneOf(...allowed: readonly string[]): Check {
  return check((value) => allowed.some((one) => one === value), allowed.join(' or '))
}

/** A field that may be absent. */
export function optional(one: Check): Check {
  return (value, path) => {
    if (value !== undefined) one(value, path)
  }
}

export function listOf(one: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw new Error(`${path}: must be a list`)
    value.forEach((item, index) => one(item, `${path}[${index}]`))
  }
}

/** Each of these fields, in this order; others are not looked at. A value that is no object lacks all of them. */
export function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    for (const [name, one] of Object.entries(checks)) one(fieldOf(value, name), path === '' ? name : `${path}.${name}`)
  }
}

/** By the `kind` of the value. */
export function byKind(kinds: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    const kind = fieldOf(value, 'kind')
    const one = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (!one) throw new Error(`${path}.kind: unknown`)
    one(value, path)
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return (Object(value) as Record<string, unknown>)[name]
}
