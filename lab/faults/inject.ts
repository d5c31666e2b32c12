import { breakChain } from './chain-faults.ts'
import { breakNodes } from './node-faults.ts'
import { breakFleet } from './fleet-faults.ts'
import { breakGuardian } from './guardian-faults.ts'
import { chainKinds, fleetKinds, guardianKinds, nodeKinds, serverKinds, temporalKinds, type FaultKind, type PlannedFault } from './plan.ts'
import type { FaultTargets } from './fault-targets.ts'
import { breakTemporal, breakWorkflow } from './temporal-faults.ts'

export type Injected = Partial<Record<FaultKind, number>>

/**
 * These faults take a chain's lock, as users' transfers do, because a fork could remove a user's transaction or undo
 * the repair of another fault.
 */
const alone: readonly FaultKind[] = ['fork', 'reorg', 'chain-stop', 'key-drained']

/** Carries out the plan and counts the faults in `injected`. Resolves when the last fault is over and repaired. */
export async function injectAll(targets: FaultTargets, plan: readonly PlannedFault[], injected: Injected): Promise<void> {
  const started = Date.now()
  const running: Promise<void>[] = []
  for (const fault of plan) {
    await targets.wait(Math.max(0, started + fault.atMs - Date.now()))
    running.push(strike(targets, fault, injected))
  }
  await Promise.all(running)
  await heal(targets)
}

async function strike(targets: FaultTargets, fault: PlannedFault, injected: Injected): Promise<void> {
  const { kind, chain } = fault
  const tell = (what: string) => targets.say(`${new Date().toISOString()} ${kind} on ${chain}: ${what}`)
  try {
    const struck = await inject(targets, fault, tell)
    if (struck) injected[kind] = (injected[kind] ?? 0) + 1
    tell(struck ? 'done' : 'there was nothing to strike')
  } catch (error) {
    // A failed injection shows nothing about Portage, so it is not counted.
    tell(`failed to start: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function inject(targets: FaultTargets, fault: PlannedFault, tell: (what: string) => void): Promise<boolean> {
  const { devnet, client, fleet, locks, wait } = targets
  const { chain } = fault
  if (is(fault, nodeKinds)) {
    const restore = breakNodes(devnet.nodes[chain], fault)
    tell(`node ${fault.node} for ${fault.forMs} ms`)
    await wait(fault.forMs)
    restore()
    return true
  }
  if (is(fault, chainKinds)) {
    const place = { anvil: devnet.chains[chain].anvil, lanes: devnet.lanes.filter((lane) => lane.chain === chain) }
    const act = () => {
      tell(`depth ${fault.depth}, ${fault.forMs} ms`)
      return breakChain(place, fault, wait)
    }
    return alone.includes(fault.kind) ? locks[chain].run(act) : act()
  }
  if (is(fault, temporalKinds)) {
    const id = await breakWorkflow(client, fault)
    if (id !== undefined) tell(id)
    return id !== undefined
  }
  if (is(fault, serverKinds)) {
    // Only one of these faults strikes at a time, so that no fault wipes a copy that another fault restores.
    await locks.temporal.run(() => breakTemporal(devnet.temporal, fault, wait))
    return true
  }
  if (is(fault, guardianKinds)) {
    await breakGuardian(devnet.guardian, devnet.cctp?.iris, fault, wait)
    return true
  }
  if (is(fault, fleetKinds)) return breakFleet(targets, fault, tell)
  // A freeze lasts four times as long as other faults, so that some freezes outlast the heartbeat of a broadcast.
  if (fault.kind === 'freeze') return fleet.freeze(fault.dice, 4 * fault.forMs)
  const killed = await fleet.kill(fault.dice, fault.forMs)
  // Sometimes a second process dies too, so that no process may be left to receive messages from the spy.
  if (fault.dice % 0.25 < 0.1) await fleet.kill(0, fault.forMs)
  return killed
}

function is<K extends FaultKind>(fault: PlannedFault, kinds: readonly K[]): fault is PlannedFault<K> {
  return (kinds as readonly FaultKind[]).includes(fault.kind)
}

async function heal({ devnet, fleet, ground }: FaultTargets): Promise<void> {
  for (const links of ground?.links.values() ?? []) links.heal()
  await ground?.server.up()
  devnet.guardian.api.trouble()
  await devnet.guardian.spy.start()
  for (const nodes of Object.values(devnet.nodes)) for (const node of nodes) node.clear()
  for (const { anvil } of Object.values(devnet.chains)) await anvil.rpc('evm_setIntervalMining', [anvil.blockTimeSeconds])
  await fleet.whole()
}
