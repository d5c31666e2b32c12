import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { laneId } from '../../domain/lane/lane-id.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { BridgeChoice } from '../demo/load.ts'
import { watermarks } from '../demo/streams.ts'
import type { Devnet } from '../devnet/index.ts'
import { byBridge } from '../devnet/sent.ts'
import { askLane, drain, type Remains } from './drain.ts'
import { startFleet } from './fleet.ts'
import { injectAll, type Injected } from './inject.ts'
import { sendOver } from './load.ts'
import { readLogs } from './logs.ts'
import { newestRuns } from './newest-runs.ts'
import { guardianKinds, planFaults, type FaultKind, type PlannedFault } from './plan.ts'
import { Lock, type FaultTargets } from './fault-targets.ts'
import { isClean, summarize, type FaultSummary } from './summary.ts'

export interface FaultRun {
  readonly seed: string
  readonly bridge: BridgeChoice
  readonly transfers: number
  readonly durationMs: number
  readonly kinds: readonly FaultKind[]
  /** ms without progress after which what is left counts as stuck. */
  readonly stuckAfterMs: number
  readonly processes: number
  readonly meanPauseMs?: number
}

/** `finalized` lags by 2 × slots: no fork goes deeper. Two keys on each chain, and of its three nodes two are a majority. */
export const faultDevnet = {
  ...{ keysPerChain: 2, blockTimeSeconds: 1, slotsInAnEpoch: 2, nodesPerChain: 3 },
  ...{ auditMinutes: 0.1, transferAuditMinutes: 0.5 },
} as const

/** The faults of a run, without doing them. */
export function planOf(run: FaultRun): PlannedFault[] {
  // Without Wormhole no process listens to its guardians.
  const kinds = run.kinds.filter((kind) => run.bridge !== 'native' || !(guardianKinds as readonly FaultKind[]).includes(kind))
  return planFaults({ ...run, kinds, nodes: faultDevnet.nodesPerChain, deepest: 2 * faultDevnet.slotsInAnEpoch })
}

/** One fault run on a devnet that stands; stops the processes that it starts, and nothing else. */
export async function runFaults(devnet: Devnet, run: FaultRun, say: (line: string) => void): Promise<FaultSummary> {
  const connection = await Connection.connect({ address: devnet.temporal.address })
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const fleet = await startFleet(devnet, run.processes, wait)
  const locks = { ethereum: new Lock(), bsc: new Lock(), temporal: new Lock() }
  const targets: FaultTargets = { devnet, client: new Client({ connection }), fleet, sent: [], locks, say, wait }
  try {
    const injected: Injected = {}
    const callsBefore = callsOf(devnet)
    const started = Date.now()
    say(`Portage runs. Faults for ${run.durationMs / 1000} s.`)
    await untilBoth(
      sendOver(targets, run.bridge, run.transfers, run.durationMs * 0.9),
      injectAll(targets, planOf(run), injected),
      async () => {
        const seen = await newestRuns(targets.client)
        const done = [...seen.values()].filter(({ running, state }) => !running && state === 'delivered').length
        say(`${Math.round((Date.now() - started) / 1000)} s: ${targets.sent.length} sent, ${done} delivered`)
        await wait(2000)
      },
    )
    say('The faults are over.')
    const remains = await drain(targets, run.stuckAfterMs)
    const summary = summarize({
      seed: run.seed,
      injected,
      remains,
      check: await devnet.check(...byBridge(targets.sent)),
      logs: await readLogs(devnet, started + (planOf(run).find(({ kind }) => kind === 'temporal-restored')?.atMs ?? Infinity)),
      restarts: fleet.restarts,
      rpcCalls: callsOf(devnet) - callsBefore,
      elapsedMs: Date.now() - started,
    })
    for (const [method, count] of callsByMethod(devnet)) say(`  ${method.padEnd(28)}${(count / run.transfers).toFixed(1)} per transfer`)
    if (!isClean(summary)) await leaveTraces(targets, remains, run)
    return summary
  } finally {
    await fleet.stop()
    await connection.close()
  }
}

/** Does `meanwhile` again and again until both have ended; throws what one of them throws. */
async function untilBoth(one: Promise<void>, other: Promise<void>, meanwhile: () => Promise<void>): Promise<void> {
  let over = false
  const both = Promise.all([one, other]).finally(() => (over = true))
  both.catch(() => {})
  // With all processes dead for a moment there may be nothing to see.
  while (!over) await meanwhile().catch(() => undefined)
  await both
}

function callsOf(devnet: Devnet): number {
  return callsByMethod(devnet).reduce((sum, [, count]) => sum + count, 0)
}

/** What all nodes were asked, the most frequent first. */
function callsByMethod({ nodes }: Devnet): [string, number][] {
  const sums = new Map<string, number>()
  for (const { calls } of Object.values(nodes).flat()) {
    for (const [method, count] of calls) sums.set(method, (sums.get(method) ?? 0) + count)
  }
  return [...sums].toSorted(([, a], [, b]) => b - a)
}

/** Writes what one needs to look for the cause into the devnet's folder, beside the logs and Temporal's database. */
async function leaveTraces(targets: FaultTargets, remains: Remains, run: FaultRun): Promise<void> {
  const { devnet, say } = targets
  const write = (name: string, value: unknown) =>
    writeFile(
      join(devnet.dir, name),
      JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field), 2),
    )
  const lanes = await Promise.all(
    devnet.lanes.map(({ chain, address }) => {
      const id = laneWorkflowId(laneId('evm', devnet.chains[chain as 'ethereum' | 'bsc'].anvil.chainId, address))
      return askLane(targets, id).catch((error: unknown) => ({ id, error: String(error) }))
    }),
  )
  const { findings, nativeFindings, ...check } = await devnet.check(...byBridge(targets.sent))
  await write('plan.json', planOf(run))
  await write('lanes.json', lanes)
  await write('check.json', {
    ...check,
    findings: findings.filter(({ redeemed, balance, expected }) => redeemed !== 1 || balance !== expected),
    nativeFindings: nativeFindings.filter(({ completed, balance, expected }) => completed !== 1 || balance !== expected),
  })
  await write('remains.json', await Promise.all(remains.transfers.map((line) => tellAll(targets, line))))
  for (const line of [...remains.transfers, ...remains.lanes, ...remains.streams]) say(`  ${line}`)
  await write('streams.json', await watermarks(targets.client).catch(String))
}

async function tellAll({ client }: FaultTargets, line: string): Promise<unknown> {
  const id = line.slice(0, line.lastIndexOf(': '))
  const status: unknown = await client.workflow
    .getHandle(id)
    .query('status')
    .catch((error: unknown) => String(error))
  return { line, status }
}
