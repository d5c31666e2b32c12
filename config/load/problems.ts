import type { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { forms, isOf } from '../../domain/text/forms.ts'
import { type Field, fieldAt } from '../schema/fields.ts'

/** A mistake in a config. Values of the config may be secrets, so a problem contains no value. */
export interface Problem {
  readonly path: string
  readonly problem: string
  readonly remedy: string
}

export function invalid(source: string, problems: readonly Problem[], cause?: unknown): RelayerError {
  const lines = problems.map(({ path, problem, remedy }) => `\n  - ${path ? `${path} ` : ''}${problem}. ${remedy}`)
  return new RelayerError('CONFIG_INVALID', { detail: `${source}:${lines.join('')}\n`, facts: { problems: problems.length }, cause })
}

export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${isShownName(String(part)) ? String(part) : hiddenName}`,
    )
    .join('')
}

const hiddenName = '(a name that is not shown)'
/** Keys of the config's maps: chain numbers, selectors, `*` and Wormhole tokens. Also `__proto__`, which is refused. */
const keyOfMap = /^([0-9]{1,5}|\*|0x[0-9a-fA-F]{8}|[0-9]{1,5}\/(0x)?[0-9a-fA-F]{1,64}|__proto__)$/
const fieldLike = /^[A-Za-z][a-z]{0,20}([A-Z][a-z]{1,20}){0,5}$/

/** Whether a problem may show this field name: a colon in the wrong place can turn a secret into a name. */
export function isShownName(name: string): boolean {
  return fieldLike.test(name) || isOf(forms.name, name) || isOf(forms.address, name) || keyOfMap.test(name)
}

export function toProblems(issue: z.core.$ZodIssue, raw: unknown): Problem[] {
  const path = pathText(issue.path)
  const value = valueAt(raw, issue.path)
  const description = fieldAt(issue.path)?.description
  const meaning = description ? ` ${description}` : ''
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(issue.path, key, raw))
    case 'invalid_type': {
      if (value === undefined) return [{ path, problem: 'is missing', remedy: `Add it.${meaning}` }]
      const problem = `must be ${article(issue.expected)}, not ${kindOf(value)}`
      return [{ path, problem, remedy: `${typeRemedies[issue.expected] ?? 'Correct it.'}${meaning}` }]
    }
    case 'invalid_key':
      return [{ path, problem: `has a name that ${issue.issues[0]?.message ?? 'is not allowed'}`, remedy: 'Rename it.' }]
    case 'invalid_value':
      return [{ path, problem: 'has an unknown value', remedy: oneOf(issue.values) }]
    case 'invalid_union': {
      const { options } = issue as { options?: readonly unknown[] }
      const problem = value === undefined ? 'is missing' : options ? 'has an unknown value' : issue.message
      return [{ path, problem, remedy: options ? oneOf(options) : `Correct it.${meaning}` }]
    }
    case 'too_small':
    case 'too_big':
      return [{ path, problem: outOfBounds(issue), remedy: `Change it.${meaning}` }]
    default:
      return [{ path, problem: issue.message, remedy: `Correct it.${meaning}` }]
  }
}

function unknownKey(path: readonly PropertyKey[], key: string, raw: unknown): Problem {
  const known = knownKeys(path, raw)
  const close = known.find((name) => distance(name.toLowerCase(), key.toLowerCase()) <= 2)
  const remedy = close ? `Did you mean ${close}?` : `Remove it; known here: ${known.join(', ')}.`
  const shown = close !== undefined || fieldLike.test(key) ? key : hiddenName
  return { path: [pathText(path), shown].filter(Boolean).join('.'), problem: 'is not a field of the config', remedy }
}

function oneOf(allowed: readonly unknown[]): string {
  return `Use ${allowed.map(String).join(' or ')}.`
}

function outOfBounds(issue: Extract<z.core.$ZodIssue, { code: 'too_small' | 'too_big' }>): string {
  const { inclusive, origin } = issue
  const [bound, exclusively, inclusively] =
    issue.code === 'too_small' ? [issue.minimum, 'above', 'at least'] : [issue.maximum, 'below', 'at most']
  const isOne = bound === 1
  const unit = origin === 'string' ? ` character${isOne ? '' : 's'}` : origin === 'array' ? ` entr${isOne ? 'y' : 'ies'}` : ''
  return `must ${unit ? 'have' : 'be'} ${inclusive === false ? exclusively : inclusively} ${bound}${unit}`
}

const asNumber = 'Write it as a number, without quotes.'
const typeRemedies: Readonly<Record<string, string>> = { string: 'Put the value in quotes.', number: asNumber, int: asNumber }

function knownKeys(path: readonly PropertyKey[], raw: unknown): string[] {
  const field = fieldAt(path)
  const { kind } = (valueAt(raw, path) ?? {}) as { kind?: unknown }
  const option = field?.oneOf?.find(({ properties }) => (properties?.['kind'] as Field | undefined)?.const === kind)
  const { properties = {}, propertyNames } = option ?? field ?? {}
  return [...Object.keys(properties), ...((propertyNames as Field | undefined)?.enum ?? []).map(String)]
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, part) => (typeof node === 'object' && node !== null ? (node as Record<PropertyKey, unknown>)[part] : undefined),
    tree,
  )
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? '.nan' : '.inf'
  return value === null ? 'empty' : article(Array.isArray(value) ? 'array' : typeof value)
}

const plainNouns: Record<string, string> = {
  array: 'list',
  object: 'map of fields',
  record: 'map of fields',
  int: 'whole number',
  string: 'text',
}

function article(noun: string): string {
  return `a ${plainNouns[noun] ?? noun}`
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
