import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { laneId } from '../../domain/lane/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { BridgeChoice } from '../demo/load.ts'
import { watermarks } from '../demo/streams.ts'
import type { Devnet } from '../devnet/index.ts'
import { askLane, drain, type Remains } from './drain.ts'
import { allRoles, startFleet } from './fleet.ts'
import { injectAll, type Injected } from './inject.ts'
import { sendOver } from './load.ts'
import { readLogs } from './logs.ts'
import { newestRuns } from './newest-runs.ts'
import { guardianKinds, planFaults, planFleetFaults, type FaultKind, type PlannedFault } from './plan.ts'
import { Lock, type FaultTargets } from './fault-targets.ts'
import { fleetFindings, isClean, summarize, type FaultSummary } from './summary.ts'
import { measureTakeovers, takeoversOf } from './takeover.ts'
import { workShares } from './work-shares.ts'

export interface FaultRun {
  readonly seed: string
  readonly bridge: BridgeChoice
  readonly transfers: number
  readonly durationMs: number
  readonly kinds: readonly FaultKind[]
  readonly stuckAfterMs: number
  /** Number of processes. In a fleet, number of processes for each role and for each key. */
  readonly processes: number
  readonly meanPauseMs?: number
  /** Whether each process has one role and Temporal runs on PostgreSQL (`fleet-run.ts`). */
  readonly fleet?: boolean
  /**
   * Number of takeovers before the faults of a fleet run. Default: the number for which half of the transfers suffice.
   */
  readonly takeovers?: number
}

/** Starts the processes of a run, and connects an operator to their Temporal. */
export interface Ground {
  connect(devnet: Devnet): Promise<Connection>
  start(devnet: Devnet, run: FaultRun, wait: (ms: number) => Promise<void>): Promise<Pick<FaultTargets, 'fleet' | 'ground'>>
}

const oneKindOfProcess: Ground = {
  connect: ({ temporal: { address } }) => Connection.connect({ address }),
  start: async (devnet, { processes }, wait) => ({ fleet: await startFleet(devnet, allRoles(processes), wait) }),
}

/** `finalized` lags by 2 × slots, and no fork is deeper. Two nodes of three are a majority. */
export const faultDevnet = {
  ...{ keysPerChain: 2, blockTimeSeconds: 1, slotsInAnEpoch: 2, nodesPerChain: 3 },
  ...{ auditMinutes: 0.1, transferAuditMinutes: 0.5 },
} as const

export function planOf(run: FaultRun): PlannedFault[] {
  // The native bridge does not use guardians.
  const kinds = run.kinds.filter((kind) => run.bridge !== 'native' || !(guardianKinds as readonly FaultKind[]).includes(kind))
  const plan = run.fleet ? planFleetFaults : planFaults
  return plan({ ...run, kinds, nodes: faultDevnet.nodesPerChain, deepest: 2 * faultDevnet.slotsInAnEpoch })
}

export async function runFaults(
  devnet: Devnet,
  run: FaultRun,
  say: (line: string) => void,
  ground: Ground = oneKindOfProcess,
  /** Called before the faults begin. The `stop` of its result is called when the faults are over. */
  watch?: (targets: FaultTargets) => { stop(): Promise<void> },
): Promise<FaultSummary> {
  const connection = await ground.connect(devnet)
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const locks = { ethereum: new Lock(), bsc: new Lock(), temporal: new Lock() }
  const targets: FaultTargets = {
    ...{ devnet, client: new Client({ connection }), sent: [], locks, say, wait },
    ...(await ground.start(devnet, run, wait)),
  }
  const { fleet } = targets
  try {
    const renewQuotes = await startQuotes(targets)
    const injected: Injected = {}
    const callsBefore = callsOf(devnet)
    const { takeovers, sent } = run.fleet
      ? await measureTakeovers(targets, run.bridge, run.takeovers ?? takeoversOf(run.transfers))
      : { takeovers: [], sent: 0 }
    const started = Date.now()
    say(`Portage is running. Faults for ${run.durationMs / 1000} s.`)
    const watching = watch?.(targets)
    try {
      await untilBoth(
        sendOver(targets, run.bridge, Math.max(0, run.transfers - sent), run.durationMs * 0.9, sent),
        injectAll(targets, planOf(run), injected),
        [() => tellProgress(targets, started), renewQuotes],
      )
    } finally {
      await watching?.stop()
    }
    say('The faults are over.')
    const remains = await drain(targets, run.stuckAfterMs)
    const summary = summarize({
      seed: run.seed,
      injected,
      remains,
      check: await devnet.check(targets.sent),
      logs: await readLogs(devnet, started + (planOf(run).find(({ kind }) => kind === 'temporal-restored')?.atMs ?? Infinity)),
      restarts: fleet.restarts,
      rpcCalls: callsOf(devnet) - callsBefore,
      elapsedMs: Date.now() - started,
      fleet: run.fleet ? fleetFindings(takeovers, await workShares(targets.client, fleet)) : undefined,
    })
    for (const [method, count] of callsByMethod(devnet)) say(`  ${method.padEnd(28)}${(count / run.transfers).toFixed(1)} per transfer`)
    if (!isClean(summary)) await leaveTraces(targets, remains, run)
    return summary
  } finally {
    await fleet.stop()
    await connection.close()
  }
}

/** Quotes of the Executor last for an hour, so a long run asks for new ones. */
const quotesMs = 1_200_000

/** Asks for quotes. The returned function asks again if they are old. */
async function startQuotes({ devnet, fleet }: FaultTargets): Promise<() => Promise<void>> {
  const ask = async () => devnet.executor?.askQuotes(fleet.alive.map(({ apiUrl }) => apiUrl))
  await ask()
  let at = Date.now()
  return async () => {
    if (Date.now() < at + quotesMs) return
    await ask()
    at = Date.now()
  }
}

/**
 * Reports progress. The pause is 50 times as long as the listing of transfers took, because a long run has many
 * transfers to list.
 */
async function tellProgress({ client, sent, say, wait }: FaultTargets, started: number): Promise<void> {
  const asked = Date.now()
  const seen = await newestRuns(client)
  const done = [...seen.values()].filter(({ running, state }) => !running && state === 'delivered').length
  say(`${Math.round((Date.now() - started) / 1000)} s: ${sent.length} sent, ${done} delivered`)
  await wait(Math.max(2_000, 50 * (Date.now() - asked)))
}

async function untilBoth(one: Promise<void>, other: Promise<void>, meanwhile: readonly (() => Promise<void>)[]): Promise<void> {
  let over = false
  const both = Promise.all([one, other]).finally(() => (over = true))
  both.catch(() => {})
  // A fault may make any of these jobs fail, and the next round repeats the job.
  while (!over) await Promise.allSettled([...meanwhile.map((job) => job()), sleep(1_000)])
  await both
}

function callsOf(devnet: Devnet): number {
  return callsByMethod(devnet).reduce((sum, [, count]) => sum + count, 0)
}

function callsByMethod({ nodes }: Devnet): [string, number][] {
  const sums = new Map<string, number>()
  for (const { calls } of Object.values(nodes).flat()) {
    for (const [method, count] of calls) sums.set(method, (sums.get(method) ?? 0) + count)
  }
  return [...sums].toSorted(([, a], [, b]) => b - a)
}

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
  const { findings, nativeFindings, nttFindings, executionFindings, cctpFindings, ...check } = await devnet.check(targets.sent)
  await write('plan.json', planOf(run))
  await write('lanes.json', lanes)
  await write('check.json', {
    ...check,
    findings: findings.filter(({ redeemed, balance, expected }) => redeemed !== 1 || balance !== expected),
    nativeFindings: nativeFindings.filter(({ completed, balance, expected }) => completed !== 1 || balance !== expected),
    nttFindings: nttFindings.filter(({ redeemed, balance, expected }) => redeemed !== 1 || balance !== expected),
    executionFindings: executionFindings.filter(({ received, balance, expected, paid }) => received !== 1 || balance !== expected || !paid),
    cctpFindings: cctpFindings.filter(({ received, balance, expected, used }) => received !== 1 || balance !== expected || !used),
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
