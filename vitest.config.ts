import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.ts'

/**
 * Tests that count calls or state transitions. Transfers cost more polls on a busy machine, so `npm run test:costs`
 * runs these tests alone. In CI, it runs after `npm test`.
 */
const costs = ['test/e2e/{rpc-cost,budget,budget-slow-blocks}.test.ts']

/** Suites that start servers, chains or worker processes. */
const integration = ['test/{contract,lab/devnet,e2e,replay}/**/*.test.ts', 'test/lab/*.test.ts', 'test/**/*.integration.test.ts']

/**
 * Fault runs, suites that lose Temporal, and the longest suites. `npm run test:faults` runs them separately, so that
 * `npm test` takes at most ten minutes on two cores. CI runs them after the other tests.
 */
const faults = [
  'test/faults/**/*.test.ts',
  'test/e2e/{temporal-postgres,temporal-restart,native-wipe,stuck,blind-nodes,duplicates,page,cctp,ntt}.test.ts',
  'test/e2e/{halt,wormhole-gaps,lane-shedding,native-limits,deadline,secrets,signers,strangers,others,audit}.test.ts',
  'test/{temporal/recovery/workflow-recovery,intake/streams/truth,lanes/chain-replaced}.integration.test.ts',
]

/**
 * Unit tests and suites with servers share a group, so that the suites begin while the last unit tests run. Suites
 * mostly wait (for blocks, heartbeats, time-outs), so seven files share two cores.
 */
const mostAtOnce = 7

const common = {
  setupFiles: ['test/helpers/setup.ts'],
  pool: 'forks' as const,
  // Test files share their process, so imports are read only once. This is safe, because files leave no state behind.
  isolate: false,
  // No retries, because a test that passes only on the second try has found a fault.
  retry: 0,
  // The default of one second fails on a busy machine, so conditions get a minute. The interval is 100 ms, because each
  // poll loads several processes.
  expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 100 } },
}

export default defineConfig({
  test: {
    // Keeps transformed modules between runs.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    reporters: ['default', './scripts/closing-line.ts'],
    sequence: { sequencer: LongestFirst },
    allowOnly: process.env.CI === undefined,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...integration, ...faults],
          maxWorkers: mostAtOnce,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'integration',
          include: integration,
          exclude: [...costs, ...faults],
          maxWorkers: mostAtOnce,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'costs',
          include: costs,
          maxWorkers: 3,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: 'faults',
          include: faults,
          maxWorkers: 5,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
