import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { exampleChains, parseChain } from '../../scripts/scaling/assumptions.ts'
import { type Costs, costsOf } from '../../scripts/scaling/costs.ts'
import { mergeFigures } from '../../scripts/scaling/figures.ts'
import { chainNeeds, engineNeeds, limits } from '../../scripts/scaling/model.ts'
import { scalingTables } from '../../scripts/scaling/table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const kept = JSON.parse(readFileSync(join(root, 'docs/operate/scaling-figures.json'), 'utf8')) as Record<string, object>

/** Round figures, so that the results can be checked by mental arithmetic. */
const costs: Costs = {
  ...{ transitions: 6, allTransitions: 7.5, historyEvents: 14, historyBytes: 2 ** 20 / 864 },
  ...{ relayerMs: 24, mainThreadMs: 6, temporalMs: 12, databaseMs: 15, rpcCalls: 2, rpcPerBlock: 4, processMiB: 512 },
  ...{ gas: { wormhole: 300_000, native: 150_000, batched: 100_000 }, measuredPerSecond: 48 },
}
const chain = { name: 'a', blockMs: 2_000, blockGas: 30_000_000, finalitySeconds: 96 }

describe('the model of docs/operate/scaling.md', () => {
  test('the scaling model computes what a rate needs of Temporal, its database and Portage', () => {
    // A shard makes 250 transitions a second (two commits of 2 ms). At 60 % load, this suffices for 20 transfers a
    // second.
    expect(engineNeeds(costs, 1_000)).toEqual({
      ...{ rate: 1_000, transitionsPerSecond: 7_500, shards: 64 },
      // 15, 12 and 24 s of CPU per second are needed, at 60 % load. A main thread handles 100 transfers a second.
      ...{ databaseCores: 25, temporalCores: 20, relayerCores: 40, relayerProcesses: 10, relayerGiB: 5 },
      // 1,000 × 86,400 × 3 days × (1 MiB / 864).
      historyGiB: (1_000 * 86_400 * 3) / 864 / 1_024,
    })
    expect(engineNeeds(costs, 10)).toMatchObject({ shards: 1, relayerProcesses: 1 })
  })

  test('the scaling model computes what a rate needs of one chain', () => {
    // A key has 16 slots for two blocks of 2 s: 4 a second. A route has 360 open transfers for 100 s: 3.6 a second.
    expect(chainNeeds(costs, chain, 1_000)).toEqual({
      ...{ rate: 1_000, chain: 'a', keys: 250, keysBatched: 13, waiting: 100_000, nativeRoutes: 278 },
      gasShare: { wormhole: 20, native: 10, batched: 1_000 * 2 * (100_000 / 30_000_000) },
      // 2,000 calls a second are for transfers. Every 2 s, 10 processes make 4 calls each, and 250 keys make 3 each.
      rpcPerSecond: 2_000 + (40 + 750) / 2,
    })
  })

  test('a key that keeps 20,000 nonces for a far finality is not limited by its slots alone', () => {
    const far = { ...chain, blockMs: 100, finalitySeconds: 9_999.8 }
    expect(chainNeeds(costs, far, 1_000).keys).toBe(500)
  })

  test('the scaling model lists the limits in the order in which they are reached', () => {
    const all = limits(costs, [chain])
    expect(all.map(({ carries }) => carries)).toEqual(all.map(({ carries }) => carries).toSorted((a, b) => a - b))
    expect(all[0]).toMatchObject({ what: 'a: open transfers of a native route', carries: 3.6 })
    expect(all.find(({ what }) => what === "a: 25 % of each block's gas for Wormhole transfers")?.carries).toBe(12.5)
    expect(all.find(({ what }) => what === 'a history shard')?.carries).toBe(20)
    expect(all.filter(({ next }) => next === '')).toEqual([])
  })

  test('the scaling model accepts other chains by their blocks, and reports invalid input', () => {
    expect(parseChain('mine:2000:30000000:60')).toEqual({ name: 'mine', blockMs: 2_000, blockGas: 30_000_000, finalitySeconds: 60 })
    for (const text of ['', 'mine', 'mine:1:2', 'mine:0:2:3', 'mine:a:2:3', ':1:2:3', 'mine:1:2:3:4'])
      expect(() => parseChain(text)).toThrow(/is not name:blockMs/)
  })
})

describe('the figures of docs/operate/scaling.md', () => {
  test('the documented figures are those of the bench, each with its commit and machine', () => {
    for (const part of Object.values(mergeFigures(kept, []))) {
      expect(part.commit).toMatch(/^[0-9a-f]{7,}$/)
      expect(part.machine.load.length).toBeGreaterThan(0)
    }
    expect(mergeFigures(kept, [])).toEqual(kept)
  })

  test('figures change where the bench measured anew: a long run for rates, a short one for sizes', () => {
    const { throughput, sizes, floor } = mergeFigures(kept, [])
    const long = { ...throughput, oneActivity: {}, portage: { ...throughput.portage, rssPeakMiB: { worker: 2_048 } } }
    const short = { ...sizes, oneActivity: {}, portage: { ...sizes.portage, historyBytes: 12_345 } }
    const merged = mergeFigures(kept, [long, short], 'abcdef1')
    expect([merged.throughput.commit, merged.sizes.commit, merged.floor]).toEqual(['abcdef1', 'abcdef1', floor])
    expect(costsOf(merged)).toMatchObject({ processMiB: 2_048, historyBytes: 12_345 })
    expect(scalingTables(merged, exampleChains)).toContain('| memory of a process, MiB | 2,048 | abcdef1 |')
  })

  test('incomplete figures of the bench are refused', () => {
    expect(() => mergeFigures(kept, [{ some: 1 }])).toThrow('not a JSON of npm run bench')
    const { floor: _, ...less } = kept
    expect(() => mergeFigures(less, [])).toThrow('floor')
    const dev = {
      ...mergeFigures(kept, []),
      floor: {
        machine: { cpus: 2, model: 'x', load: [1] },
        servers: [{ server: 'dev server', oneActivity: { stateTransitions: 6, cpuMsByProcess: {} } }],
      },
    }
    expect(() => costsOf(mergeFigures(dev, []))).toThrow('no PostgreSQL')
  })
})

test('the scaling script prints JSON for given chains', () => {
  const argv = ['--import', 'tsx', join(root, 'scripts/scaling.ts'), '--json', '--chain', 'mine:2000:30000000:60']
  const printed: unknown = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', cwd: root }))
  expect(printed).toMatchObject({ chains: [{ name: 'mine' }], engine: [{ rate: 10 }, { rate: 1_000 }, { rate: 100_000 }] })
})
