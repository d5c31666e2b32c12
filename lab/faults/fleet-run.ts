import type { PostgresServerParts } from '../devnet/temporal/on-postgres.ts'
import { startFleet } from './fleet.ts'
import { type Links, startLinks } from './fleet-links.ts'
import { fleetProcesses } from './fleet-processes.ts'
import { type FleetServer, startFleetServer } from './fleet-server.ts'
import { faultDevnet, type Ground } from './run.ts'

/** One key per chain, so that no other lane can deliver while a lane's processes are killed. */
export const fleetDevnet = { ...faultDevnet, keysPerChain: 1 } as const

export interface FleetGroundOptions {
  /** Processes that no fault kills or freezes, by name. Default: none. */
  readonly isSpared?: (name: string) => boolean
  /** Time for which Temporal keeps closed workflows. Default: a day. */
  readonly retentionSeconds?: number
}

/** Starts Temporal on PostgreSQL. `stop` ends the server and the proxies, but not the processes. */
export async function startFleetGround(
  parts: PostgresServerParts,
  dir: string,
  { isSpared = () => false, retentionSeconds }: FleetGroundOptions = {},
): Promise<Ground & { readonly server: FleetServer; stop(): Promise<void> }> {
  const server = await startFleetServer(parts, dir, retentionSeconds)
  const opened: Links[] = []
  return {
    server,
    connect: () => server.connect(),
    async start(devnet, { processes }, wait) {
      const { started, links } = await fleetProcesses(devnet, server, processes, async () => {
        const own = await startLinks(devnet)
        opened.push(own)
        return own
      })
      return { fleet: await startFleet(devnet, started, wait, isSpared), ground: { server, links } }
    },
    async stop() {
      await Promise.all(opened.map((one) => one.stop()))
      await server.stop()
    },
  }
}
