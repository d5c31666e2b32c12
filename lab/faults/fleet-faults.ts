import type { TcpProxy } from '../devnet/fault-proxy/tcp-proxy.ts'
import type { FaultTargets } from './fault-targets.ts'
import type { FleetKind, PlannedFault } from './plan.ts'

/**
 * Half-open connections last four times as long as cut connections, so that some outlast the heartbeat of a broadcast.
 */
const halfOpenTimes = 4

/** Injects a fault that needs a fleet. Resolves when the fault is over. Returns false in a run without a fleet. */
export async function breakFleet(targets: FaultTargets, fault: PlannedFault<FleetKind>, tell: (what: string) => void): Promise<boolean> {
  const { fleet, ground, locks, wait } = targets
  if (!ground) return false
  const { server } = ground
  switch (fault.kind) {
    case 'rolling-restart': {
      const late = await fleet.restartEach()
      if (late.length > 0) tell(`did not end in time with code 0: ${late.join(', ')}`)
      return true
    }
    case 'temporal-restart':
      // Ends the server by SIGKILL, or by SIGTERM as an orchestrator does.
      await locks.temporal.run(() => server.restart(fault.dice < 0.5 ? 0 : 2_000))
      return true
    case 'postgres-crash':
      await locks.temporal.run(async () => {
        await server.postgres.crash()
        await wait(fault.forMs)
        await server.postgres.restart()
      })
      return true
    default: {
      const [name, cut] = waysOf(targets, fault)
      const isHalfOpen = fault.kind.endsWith('half-open')
      tell(`${name} for ${isHalfOpen ? halfOpenTimes * fault.forMs : fault.forMs} ms`)
      for (const way of cut)
        if (isHalfOpen) way.stall()
        else way.cut()
      await wait(isHalfOpen ? halfOpenTimes * fault.forMs : fault.forMs)
      for (const way of cut) way.heal()
      return cut.length > 0
    }
  }
}

function waysOf(
  { fleet, ground }: FaultTargets,
  { kind, dice, chain, node }: PlannedFault,
): readonly [name: string, ways: readonly TcpProxy[]] {
  const { name = '' } = fleet.processes[Math.floor(dice * fleet.processes.length)] ?? {}
  const links = ground?.links.get(name)
  if (!links) return [name, []]
  if (kind.startsWith('temporal')) return [name, [links.temporal]]
  const nodes = links.nodes[chain]
  return [name, node === 'all' ? nodes : nodes.slice(node, node + 1)]
}
