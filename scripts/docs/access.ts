import { accessLevels } from '../../domain/access.ts'
import { type OrderName, orderOf, orders } from '../../operations/orders/orders.ts'
import { markdownTable } from './markdown.ts'

/** The table of docs/operate/access.md: every order with its level, command and route. */
export function describeAccess(): string {
  const rows = accessLevels.flatMap((level) =>
    (Object.keys(orders) as OrderName[]).flatMap((name) => {
      const { level: needed, route } = orderOf(name)
      if (needed !== level) return []
      return [[level, `\`portage ${name}\``, route === undefined ? '-' : `\`POST ${route.replaceAll(/:(\w+)/g, '{$1}')}\``]]
    }),
  )
  return markdownTable(
    ['level', 'command', 'route'],
    [['read', 'every other command (without a token)', 'every `GET` route, except the open routes'], ...rows],
  )
}
