import { operations } from '../../operations/access/operations.ts'
import { accessLevels } from '../../domain/access.ts'
import { markdownTable } from './markdown.ts'

/** The table of docs/operate/access.md: every order, the level that it needs, its command and its route. */
export function describeAccess(): string {
  const rows = accessLevels.flatMap((level) =>
    Object.entries(operations).flatMap(([name, operation]) => {
      if (operation.level !== level) return []
      return [[level, `\`portage ${name}\``, 'api' in operation ? `\`${operation.api}\`` : '-']]
    }),
  )
  return markdownTable(
    ['level', 'command', 'route'],
    [['read', 'every other command needs no token', 'every `GET` but those below'], ...rows],
  )
}
