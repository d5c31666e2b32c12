import type { Chain } from '../../chains/port.ts'

export function callsOf({ callsByNode }: Pick<Chain, 'callsByNode'>, method?: string): number {
  return [...callsByNode.values()]
    .flatMap((calls) => [...calls])
    .filter(([name]) => method === undefined || name === method)
    .reduce((sum, [, count]) => sum + count, 0)
}
