import type { z } from 'zod'
import { childrenOf, readField } from '../../config/fields.ts'
import { configSchema } from '../../config/schema.ts'

/** docs/config.md: every field with its type, default and meaning, from the schema itself. */
export function describeConfig(): string {
  const rows = walk(configSchema, '')
  const table = [
    '| field | type | default | meaning |',
    '| --- | --- | --- | --- |',
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ]
  return [
    '# Config',
    '',
    'One YAML file, `portage.yaml` unless `--config` names another; `config/portage.example.yaml` is one to start from.',
    '`${NAME}` in a text is replaced by the environment variable of that name. Unknown fields are errors.',
    '`portage config check` lists all problems at once.',
    '',
    ...table,
    '',
  ].join('\n')
}

function walk(schema: z.core.$ZodType, path: string): string[][] {
  return childrenOf(readField(schema).schema).flatMap(([name, child]) => {
    const at = name === '[]' ? `${path}[]` : path ? `${path}.${name}` : name
    return [...row(child, at), ...walk(child, at), ...options(child, at)]
  })
}

/** The row of a field. Entries of lists and maps have one only if they have a description of their own. */
function row(schema: z.core.$ZodType, path: string): string[][] {
  const field = readField(schema)
  if (/(\[\]|<name>)$/.test(path) && !field.description) return []
  return [[`\`${path}\``, typeName(field.schema), fallbackText(field), field.description ?? '']]
}

/** The members of each option of a union that is told apart by `kind`. */
function options(schema: z.core.$ZodType, path: string): string[][] {
  const def = (readField(schema).schema as z.core.$ZodTypes)._zod.def
  if (def.type !== 'union') return []
  return def.options.flatMap((option) => {
    const { schema: inner, description } = readField(option)
    return childrenOf(inner).map(([name, child]) => {
      const field = readField(child)
      return [`\`${path}.${name}\``, typeName(field.schema), fallbackText(field), field.description ?? description ?? '']
    })
  })
}

function fallbackText({ required, fallback }: ReturnType<typeof readField>): string {
  if (required) return 'required'
  if (fallback === undefined) return 'absent'
  return `\`${JSON.stringify(fallback)}\``
}

function typeName(schema: z.core.$ZodType): string {
  const def = (schema as z.core.$ZodTypes)._zod.def
  switch (def.type) {
    case 'string':
      return 'text'
    case 'number':
      return 'number'
    case 'literal':
      return def.values.map((value) => `\`${String(value)}\``).join(' or ')
    case 'array':
      return `list of ${childrenOf(readField(def.element).schema).length > 0 ? 'maps' : typeName(readField(def.element).schema)}`
    case 'record':
      return 'map by name'
    case 'union':
      return 'map, by `kind`'
    default:
      return 'map'
  }
}
