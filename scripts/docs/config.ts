import { childrenOf, configFields, type Field } from '../../config/schema/fields.ts'
import { groupBy } from '../../domain/group-by.ts'
import { contentsPlace } from './contents.ts'
import { markdownTable } from './markdown.ts'

/** docs/reference/config.md: every field with its type, default and meaning, from the schema. */
export function describeConfig(): string {
  const sections = groupBy(walk(configFields(), ''), ([path = '']) => /[^`.[]+/.exec(path)?.[0] ?? '')
  return [
    '# Config',
    [
      'The config is one YAML file: `portage.yaml`, or the file that `--config` names. `portage init` writes a config for chains of',
      'your choice; `config/portage.example.yaml` shows most fields. Portage replaces `${NAME}` in a text by the environment variable',
      'of that name. Unknown fields are errors. `portage config check` lists all problems at once. With the schema',
      '`config/portage.schema.json` (`portage config schema`), editors complete and check the config.',
    ].join('\n'),
    contentsPlace,
    ...[...sections].map(([name, rows]) => `## ${name}\n\n${markdownTable(['field', 'type', 'default', 'meaning'], rows)}`),
    '## Next steps\n\n- [Your own config](../start/configure.md): step by step.\n- [Chains and their nodes](../operate/chains.md), [signers](../operate/signers.md).',
  ].join('\n\n')
}

function walk(parent: Field, path: string): string[][] {
  return Object.entries(childrenOf(parent)).flatMap(([name, field]) => {
    const at = name === '[]' ? `${path}[]` : path ? `${path}.${name}` : name
    // Entries of lists and maps have a row only if they have a description of their own.
    const isShown = !/(\[\]|<name>)$/.test(name) || field.description !== undefined
    return [...(isShown ? [row(parent, name, at)] : []), ...walk(field, at), ...options(field, at)]
  })
}

function options({ oneOf = [] }: Field, path: string): string[][] {
  return oneOf.flatMap((option) => Object.keys(childrenOf(option)).map((name) => row(option, name, `${path}.${name}`)))
}

/** The row of a field. If a map's field has no description, the row has the map's description. */
function row(parent: Field, name: string, path: string): string[] {
  const field = childrenOf(parent)[name]!
  const fallback = field.default === undefined ? 'absent' : `\`${JSON.stringify(field.default)}\``
  const meaning = field.description ?? parent.description ?? ''
  return [`\`${path}\``, typeName(field), parent.required?.includes(name) ? 'required' : fallback, meaning]
}

function typeName(field: Field): string {
  const { type, oneOf, properties } = field
  const values = field.const === undefined ? field.enum : [field.const]
  if (values) return values.map((value) => `\`${String(value)}\``).join(' or ')
  if (type === 'string') return 'text'
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array') {
    const entry = childrenOf(field)['[]']!
    return `list of ${Object.keys(childrenOf(entry)).length > 0 ? 'maps' : typeName(entry)}`
  }
  if (oneOf) return 'map, by `kind`'
  if (field.anyOf) return [...new Set(field.anyOf.flatMap((one) => typeName(one).split(' or ')))].join(' or ')
  return properties ? 'map' : 'map by name'
}
