import { join } from 'node:path'
import type { Role } from '../../workers/roles/roles.ts'
import type { Devnet } from '../devnet/index.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import type { FleetProcess } from './fleet.ts'
import { type Links, withLinks } from './fleet-links.ts'
import type { FleetServer } from './fleet-server.ts'

export interface FleetProcesses {
  readonly started: readonly FleetProcess[]
  readonly links: ReadonlyMap<string, Links>
}

const tokenVariable = 'PORTAGE_FAULTS_TOKEN'

export function laneProcess({ chain, address }: LaneKey, devnet: Devnet, number: number): string {
  const place = devnet.lanes.filter((one) => one.chain === chain).findIndex((one) => one.address === address)
  return `portage-lane-${chain}-${String.fromCodePoint(97 + place)}-${number}`
}

/**
 * Processes of a fleet, each with its own folder and proxies. `each`: number of processes for each role and each key.
 * The role api has only one process.
 */
export function fleetProcesses(devnet: Devnet, server: FleetServer, each: number, linksOf: () => Promise<Links>): Promise<FleetProcesses> {
  const numbers = Array.from({ length: each }, (_, index) => index + 1)
  const roles = (['chain', 'ledger', 'intake'] as const).flatMap((role) =>
    numbers.map((number) => ({ name: `portage-${role}-${number}`, role })),
  )
  const lanes = devnet.lanes.flatMap((key) =>
    numbers.map((number) => ({ name: laneProcess(key, devnet, number), role: 'lane' as const, key })),
  )
  return withWays([...roles, ...lanes, { name: 'portage-api-1', role: 'api' }], devnet, server, linksOf)
}

async function withWays(
  processes: readonly { readonly name: string; readonly role: Role; readonly key?: LaneKey }[],
  devnet: Devnet,
  server: FleetServer,
  linksOf: () => Promise<Links>,
): Promise<FleetProcesses> {
  const links = new Map<string, Links>()
  const started: FleetProcess[] = []
  for (const { name, role, key } of processes) {
    const own = await linksOf()
    links.set(name, own)
    const env = Object.fromEntries(devnet.lanes.map(({ variable }) => [variable, variable === key?.variable ? key.privateKey : undefined]))
    started.push({
      ...{ name, role, args: key ? ['--lane', key.address] : [] },
      env: { ...env, [tokenVariable]: server.issueToken(name) },
      configure: (config) =>
        withLinks(
          {
            ...config,
            dataFolder: join(devnet.dir, name),
            temporal: { ...config.temporal, tls: { caFile: server.caFile }, apiKeyVariable: tokenVariable },
          },
          own,
        ),
    })
  }
  return { started, links }
}
