import { z } from 'zod'
import { configSchema } from './schema.ts'

/** A field of the config as JSON Schema, in the form in which it is written. */
export type Field = z.core.JSONSchema.JSONSchema

/** The whole config. */
export function configFields(): Field {
  return z.toJSONSchema(configSchema, { io: 'input' })
}

/** The members of a map by their names, `<name>` for a map by names of the user's choice, `[]` for a list; none for single values and unions. */
export function childrenOf({ properties, additionalProperties, items }: Field): Readonly<Record<string, Field>> {
  const others = { ...(additionalProperties && { '<name>': additionalProperties }), ...(items && { '[]': items }) }
  return { ...properties, ...others } as Record<string, Field>
}

/** The field at a path of property names and indices, or undefined if there is none. Unions: the first option that has it. */
export function fieldAt(path: readonly PropertyKey[]): Field | undefined {
  return path.reduce<Field | undefined>((field, part) => {
    const options = field ? (field.oneOf ?? [field]) : []
    const found = options.map(childrenOf).map((children) => children[String(part)] ?? children['<name>'] ?? children['[]'])
    return found.find((child) => child !== undefined)
  }, configFields())
}
