import { laneId } from '../domain/lane/lane-id.ts'
import type { KnownNames } from '../domain/settings/known-names.ts'
import type { Config } from './schema.ts'

/** The names that a change of the settings may use. */
export function namesOf({ bridges, chains }: Pick<Config, 'bridges' | 'chains'>): KnownNames {
  return {
    bridges: Object.keys(bridges),
    nodes: Object.fromEntries(
      Object.entries(chains).map(([name, { nodes }]) => [name, nodes.map((node, index) => node.name ?? `node-${index + 1}`)]),
    ),
    lanes: Object.values(chains).flatMap(({ family, networkId, lanes }) => lanes.map(({ address }) => laneId(family, networkId, address))),
  }
}
