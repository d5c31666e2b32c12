import { z } from 'zod'
import { configSchema } from './schema.ts'

/** A config field as JSON Schema, in the form that users write. */
export type Field = z.core.JSONSchema.JSONSchema

export function configFields(): Field {
  return z.toJSONSchema(configSchema, { io: 'input' })
}

/** The members of a field: `<name>` for maps with free names, `[]` for lists. None for single values and unions. */
export function childrenOf({ properties, additionalProperties, items }: Field): Readonly<Record<string, Field>> {
  const others = { ...(additionalProperties && { '<name>': additionalProperties }), ...(items && { '[]': items }) }
  return { ...properties, ...others } as Record<string, Field>
}

/** The field at a path of names and indices. In a union, the first option that has it. */
export function fieldAt(path: readonly PropertyKey[]): Field | undefined {
  return path.reduce<Field | undefined>((field, part) => {
    const options = field ? (field.oneOf ?? [field]) : []
    const found = options.map(childrenOf).map((children) => children[String(part)] ?? children['<name>'] ?? children['[]'])
    return found.find((child) => child !== undefined)
  }, configFields())
}
