import { rooms, type Room } from '../rooms.ts'
import { markdownTable } from './markdown.ts'

/** The table of docs/ARCHITECTURE.md: which folder may import what. Folders with the same rule share a row. */
export function describeRooms(): string {
  const rows = new Map<string, { paths: string[]; cells: [string, string] }>()
  for (const room of rooms) {
    const cells: [string, string] = [imports(room), packages(room)]
    const key = cells.join('\n')
    const row = rows.get(key) ?? { paths: [], cells }
    row.paths.push(`\`${room.path}\``)
    rows.set(key, row)
  }
  return markdownTable(
    ['path', 'may import', 'packages'],
    [...rows.values()].map(({ paths, cells }) => [paths.join(' '), ...cells]),
  )
}

function imports(room: Room): string {
  if (room.imports === 'all') return 'everything'
  return room.imports.length === 0 ? 'nothing' : room.imports.map((path) => `\`${path}\``).join(', ')
}

function packages({ packages: allowed, names }: Room): string {
  if (allowed === 'all') return 'any'
  if (allowed.length === 0) return 'none'
  return allowed.map((name) => `\`${name}\`${names?.[name] ? ` (only \`${names[name].source.replace('^', '')}…\`)` : ''}`).join(', ')
}
