import { z } from 'zod'
import { configSchema } from './schema.ts'

export type Field = z.core.JSONSchema.JSONSchema

export function configFields(): Field {
  return z.toJSONSchema(configSchema, { io: 'input' })
}

export function childrenOf({ properties, additionalProperties, items }: Field): Readonly<Record<string, Field>> {
  const others = { ...(additionalProperties && { '<name>': additionalProperties }), ...(items && { '[]': items }) }
  return { ...properties, ...others } as Record<string, Field>
}

export function fieldAt(path: readonly PropertyKey[]): Field | undefined {
  return path.reduce<Field | undefined>((field, part) => {
    const options = field ? (field.oneOf ?? [field]) : []
    const found = options.map(childrenOf).map((children) => children[String(part)] ?? children['<name>'] ?? children['[]'])
    return found.find((child) => child !== undefined)
  }, configFields())
}

const reference: Field = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

export function configJsonSchema(): Field {
  return { title: 'The config of Portage', ...(withReferences(configFields()) as Field) }
}

/** Allows a reference `${NAME}` in place of any text with rules (pattern, enum…). Keys of maps cannot be references. */
function withReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withReferences)
  if (typeof node !== 'object' || node === null) return node
  const field = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'propertyNames' || key === 'default' ? value : withReferences(value)]),
  ) as Field
  if (field.type !== 'string' || !ruled.some((rule) => rule in field)) return field
  const { description, default: otherwise, ...rules } = field
  return {
    ...(description !== undefined && { description }),
    ...(otherwise !== undefined && { default: otherwise }),
    anyOf: [rules, reference],
  }
}

/** Rules that a reference `${NAME}` would break. Not `const`, because the kind of a union is never a reference. */
const ruled = ['pattern', 'format', 'enum', 'allOf', 'maxLength'] as const
