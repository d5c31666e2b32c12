import type { ChainName } from '../transfer/transfer.ts'
import type { Settings, SettingsOrder } from './settings.ts'

/** Warns of chains without a majority of enabled nodes. @param nodes after the orders @param voters all that read */
export function majorityWarnings(
  orders: readonly SettingsOrder[],
  { nodes }: Pick<Settings, 'nodes'>,
  voters: Readonly<Record<ChainName, readonly string[]>>,
): string[] {
  const touched = orders.flatMap((order) => (order.kind === 'setNode' && order.change.disabled ? [order.change] : []))
  const chains = new Set(touched.flatMap(({ chain, name }) => (voters[chain]?.includes(name) ? [chain] : [])))
  return [...chains].flatMap((chain) => {
    const all = voters[chain] ?? []
    const disabled = new Set(nodes.filter((one) => one.chain === chain && one.disabled).map(({ name }) => name))
    const left = all.filter((name) => !disabled.has(name)).length
    const needed = Math.floor(all.length / 2) + 1
    if (left >= needed) return []
    if (left === 0)
      return [`no node of the config that reads is left for ${chain}: nothing is read there, and nothing delivered, until one is enabled`]
    const have = `${left} of the ${all.length} nodes of ${chain} that read ${left === 1 ? 'is' : 'are'} enabled, and a majority is ${needed}`
    return [
      `${have}: nothing becomes final there, and every verdict waits, until more are enabled; only the config lowers what a majority is`,
    ]
  })
}
