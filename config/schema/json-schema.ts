import { configFields, type Field } from './fields.ts'

/** What a text may be instead of a value: a reference to an environment variable, with other text around it or none. */
const reference: Field = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

/**
 * The JSON Schema of the config file, as editors use it: fields with their descriptions, values and defaults. Every text may also be `${NAME}`. It says
 * less than `portage config check`, which also compares fields with each other.
 */
export function configJsonSchema(): Field {
  return { title: 'The config of Portage', ...(withReferences(configFields()) as Field) }
}

/** The same schema, in which each text that has rules may be a reference as well. Names of map entries are never replaced, and keep their rules. */
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

/** What a reference would not fulfil. The kind of a union (`const`) is never one. */
const ruled = ['pattern', 'format', 'enum', 'allOf', 'maxLength'] as const
