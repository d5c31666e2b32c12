import type { z } from 'zod'

/** A field of the config, as its schema describes it. */
export interface Field {
  /** The schema without wrappers (optional, default, transform). */
  readonly schema: z.core.$ZodType
  readonly required: boolean
  readonly description: string | undefined
  /** The default as JSON, where there is one. */
  readonly fallback: unknown
}

/** Takes the wrappers off a schema and keeps what they say. The outermost description wins. */
export function readField(schema: z.core.$ZodType): Field {
  let inner = schema as z.core.$ZodTypes
  let description: string | undefined
  let required = true
  let fallback: unknown
  for (;;) {
    description ??= (inner as unknown as z.ZodType).description
    const def = inner._zod.def
    if (def.type === 'optional') required = false
    else if (def.type === 'default' || def.type === 'prefault') {
      required = false
      fallback ??= def.defaultValue
    } else if (def.type !== 'pipe') return { schema: inner, required, description, fallback }
    inner = (def.type === 'pipe' ? def.in : def.innerType) as z.core.$ZodTypes
  }
}

/** The members of an object schema, the `<name>` of a record, the `[]` of an array; none for leaves and unions. */
export function childrenOf(schema: z.core.$ZodType): readonly (readonly [string, z.core.$ZodType])[] {
  const def = (schema as z.core.$ZodTypes)._zod.def
  if (def.type === 'object') return Object.entries(def.shape)
  if (def.type === 'record') return [['<name>', def.valueType]]
  if (def.type === 'array') return [['[]', def.element]]
  return []
}

/** The field at a path of property names and indices, or undefined if the schema has none there. Unions: the first option that has it. */
export function fieldAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): Field | undefined {
  const field = readField(schema)
  const [head, ...rest] = path
  if (head === undefined) return field
  const def = (field.schema as z.core.$ZodTypes)._zod.def
  if (def.type === 'union') {
    return def.options.map((option) => fieldAt(option, path)).find((found) => found !== undefined)
  }
  if (def.type === 'object') {
    const child = def.shape[String(head)]
    return child && fieldAt(child, rest)
  }
  if (def.type === 'record') return fieldAt(def.valueType, rest)
  return def.type === 'array' ? fieldAt(def.element, rest) : undefined
}
