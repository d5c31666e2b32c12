import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startDevnet } from '../../lab/devnet/index.ts'
import { faultKinds, fleetFaultKinds, guardianKinds, nodeKinds, planFaults, serverKinds, type FaultKind } from '../../lab/faults/plan.ts'
import { run as runCommand } from '../../lab/devnet/run.ts'
import { quickTakeover } from '../../lab/devnet/relayer-config.ts'
import { faultDevnet, planOf, runFaults, type FaultRun } from '../../lab/faults/run.ts'
import { fleetFindings, isClean, type FaultSummary } from '../../lab/faults/summary.ts'

/**
 * 25 s of faults, so that nearly every kind occurs once. `stuckAfterMs` exceeds the longest regular waits: a minute
 * until the next attempt of a step, and a minute until an audit.
 */
const run: FaultRun = {
  ...{ seed: 'short', bridge: 'both', transfers: 40, durationMs: 25_000, kinds: faultKinds, stuckAfterMs: 120_000, processes: 2 },
}

test('after random faults everything is delivered once, without a gap and without an operator', async () => {
  const devnet = await startDevnet({ ...faultDevnet, worker: quickTakeover, native: 'fixed', ui: false })
  const said: string[] = []
  try {
    const summary = await runFaults(devnet, run, (line) => said.push(line))
    expect(isClean(summary), [...said, JSON.stringify(summary)].join('\n')).toBe(true)
    // Faults of nodes and guardians always find a target. A few of the other planned faults find none.
    const certain = new Set<FaultKind>([...nodeKinds, ...guardianKinds])
    const planned = planOf(run).map(({ kind }) => kind)
    expect(Object.keys(summary.faults)).toEqual(expect.arrayContaining(planned.filter((kind) => certain.has(kind))))
    expect(Object.keys(summary.faults).some((kind) => !certain.has(kind as FaultKind))).toBe(true)
  } finally {
    await devnet.stop()
  }
}, 600_000)

test('the same seed plans the same faults, another one others; every kind comes before one comes twice', () => {
  expect(planOf(run)).toEqual(planOf(run))
  expect(planOf({ ...run, seed: 'other' })).not.toEqual(planOf(run))
  const long = planFaults({ ...run, durationMs: 60_000, nodes: 3, deepest: 4 })
  expect(new Set(long.slice(0, faultKinds.length).map(({ kind }) => kind))).toEqual(new Set(faultKinds))
  expect(long.every(({ depth, node }) => depth >= 1 && depth <= 4 && (node === 'all' || node < 3))).toBe(true)
  expect(
    planFaults({ ...run, kinds: ['fork', 'kill'], nodes: 3, deepest: 4 }).every(({ kind }) => kind === 'fork' || kind === 'kill'),
  ).toBe(true)
})

test('the fault plan of a fleet restarts each process once, early, and never wipes Temporal', () => {
  const fleet: FaultRun = { ...run, fleet: true, kinds: fleetFaultKinds, durationMs: 120_000, meanPauseMs: 1_000 }
  expect(planOf(fleet)).toEqual(planOf(fleet))
  for (const seed of ['1', '2', '3']) {
    const plan = planOf({ ...fleet, seed })
    const counts = new Map(fleetFaultKinds.map((kind) => [kind, plan.filter((one) => one.kind === kind).length]))
    expect([...counts].filter(([, count]) => count === 0)).toEqual([])
    expect(counts.get('rolling-restart')).toBe(1)
    expect(plan.find(({ kind }) => kind === 'rolling-restart')?.atMs).toBeLessThan(0.2 * fleet.durationMs)
    expect(counts.get('kill')).toBeGreaterThan(counts.get('lag') ?? 0)
    expect(plan.filter(({ kind }) => (serverKinds as readonly FaultKind[]).includes(kind))).toEqual([])
    expect(plan.map(({ atMs }) => atMs)).toEqual(plan.map(({ atMs }) => atMs).toSorted((a, b) => a - b))
  }
  expect(planOf({ ...fleet, kinds: ['kill'] }).every(({ kind }) => kind === 'kill')).toBe(true)
})

test('a fleet where its server is not: code 3, and what is missing', async () => {
  const script = fileURLToPath(new URL('../../lab/faults/main.ts', import.meta.url))
  const missing = join(dirname(script), 'no-server-here')
  const { code, stdout, stderr } = await runCommand(process.execPath, ['--import', 'tsx', script, '--fleet'], {
    env: { ...process.env, TEMPORAL_SERVER: missing },
  })
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toMatch(/NOT RUN: faults --fleet: .+/)
})

test('a run is clean only if nothing at all is wrong', () => {
  const none = {
    lost: 0,
    duplicateEffects: 0,
    wrongBalances: 0,
    foreignCompletions: 0,
    nonceHoles: 0,
    stuck: 0,
    brokenTasks: 0,
    loggedKeys: 0,
  }
  const costs = { wastedTransactions: 3, revertedTransactions: 1, restarts: 0, rpcCallsPerTransfer: 9, seconds: 60 }
  const clean: FaultSummary = { seed: '1', transfers: 40, delivered: 40, faults: {}, ...none, ...costs }
  expect(isClean(clean)).toBe(true)
  for (const field of Object.keys(none)) expect([field, isClean({ ...clean, [field]: 1 })]).toEqual([field, false])
  expect(isClean({ ...clean, delivered: 39 })).toBe(false)
  expect(isClean({ ...clean, transfers: 0, delivered: 0 })).toBe(false)
  const worked = { 'portage-chain-1': 3, 'portage-chain-2': 9 }
  const killed = [3_000, 900, 16_000, 1_100].map((ms) => ({ chain: 'bsc', owedNonce: ms > 10_000, ms }))
  const fleet = { ...clean, ...fleetFindings(killed, worked) }
  expect(fleet).toMatchObject({ takeoverMs: { min: 900, median: 1_100, max: 16_000 }, idle: [] })
  expect(isClean(fleet)).toBe(true)
  expect(isClean({ ...clean, ...fleetFindings([], { ...worked, 'portage-chain-2': 0 }) })).toBe(false)
})
