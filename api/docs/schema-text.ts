export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly pattern?: string
}

const deepest = 5

/** Plain text: `array of string`, `"a" or "b"`. */
export function typeText(schema: JsonSchema): string {
  const { type, items, const: only, anyOf, oneOf = anyOf } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (oneOf) return [...new Set(oneOf.map(typeText))].join(' or ')
  if (type === 'array') return `array of ${items ? typeText(items) : 'anything'}`
  if (type === 'object' && !schema.properties && typeof schema.additionalProperties === 'object') {
    return `map of ${typeText(schema.additionalProperties)}`
  }
  return [[type ?? 'anything'].flat().join(' or '), limitsText(schema)].filter(Boolean).join(', ')
}

function limitsText({ format, minimum, maximum, maxLength, maxItems, default: usual }: JsonSchema): string {
  const isSafe = (limit: number | undefined) => limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
  return [
    format,
    isSafe(minimum) ? `at least ${minimum}` : '',
    isSafe(maximum) ? `at most ${maximum}` : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems}`,
    usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** The fields of a schema as nested HTML lists. */
export function fieldsHtml(schema: JsonSchema, depth = 0): string {
  const { properties, items, anyOf, oneOf = anyOf, required = [], additionalProperties } = schema
  if (depth > deepest) return ''
  if (items) return fieldsHtml(items, depth)
  if (oneOf) {
    const options = oneOf.map((one) => fieldsHtml(one, depth + 1)).filter(Boolean)
    return options.length < 2 ? options.join('') : `<p>One of these:</p>${options.join('<p>or</p>')}`
  }
  if (!properties) return typeof additionalProperties === 'object' ? fieldsHtml(additionalProperties, depth + 1) : ''
  const rows = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? '' : ' <span class="optional">optional</span>'
    const text = field.description ? ` ${escaped(field.description)}` : ''
    return `<li><code>${escaped(name)}</code> <span class="type">${escaped(typeText(field))}</span>${optional}${text}${fieldsHtml(field, depth + 1)}</li>`
  })
  return `<ul>${rows.join('')}</ul>`
}

const replaced: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** For the content of an element or a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => replaced[one] ?? '')
}
