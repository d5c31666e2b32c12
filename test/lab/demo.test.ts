import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Summary } from '../../lab/demo/summary.ts'
import { run } from '../../lab/devnet/run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs `npm run demo -- …` without the set-up. */
function demo(...args: string[]) {
  const command = ['--import', 'tsx', `${root}/lab/demo/main.ts`, '--in-memory', '--keys', '1', '--rate', '0', ...args]
  return run(process.execPath, command, { timeoutMs: 170_000 })
}

test('--json prints one object with the figures of the run, and nothing else on stdout', async () => {
  const { code, stdout, stderr } = await demo('--transfers', '6', '--bridge', 'both', '--json')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stdout.trim().split('\n')).toHaveLength(1)
  const summary = JSON.parse(stdout) as Summary
  const none = { rejected: 0, declined: 0, parked: 0, lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0 }
  expect(summary).toMatchObject({ bridge: 'both', transfers: 6, delivered: 6, ...none, revertedTransactions: 0, nonceHoles: 0 })
  expect(summary).toMatchObject({ unproved: [], deliveringTransactions: 6, latencyMs: { p50: expect.any(Number) } })
  expect(summary.perTransfer.stateTransitions).toBeGreaterThan(0)
  expect(Object.values(summary.deliveredOn).reduce((sum, count) => sum + count, 0)).toBe(6)
  expect(
    Object.values(summary.gasPaid)
      .map(BigInt)
      .every((wei) => wei > 0n),
  ).toBe(true)
  expect(summary.streams.length).toBeGreaterThanOrEqual(4)
  expect(stderr).toMatch(/Temporal Web UI: http:.*\(until the demo ends; --keep/)
})

test('for people it prints a table; what it started is gone afterwards', async () => {
  const { code, stdout, stderr } = await demo('--transfers', '2')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const rows = new Map(stdout.split('\n').map((line) => [line.slice(2, 62).trim(), line.slice(62)]))
  expect(rows.get('delivered')).toBe('2 of 2, exactly once (independent checker)')
  expect(rows.get('lost / twice / wrong balance')).toBe('0 / 0 / 0')
  expect([...rows.keys()]).toEqual(expect.arrayContaining(['nonce holes', 'throughput', 'state transitions per transfer']))
  const [, ui = ''] = /Temporal Web UI: (\S+)/.exec(stderr) ?? []
  await expect(fetch(ui)).rejects.toThrow('fetch failed')
})

test('bad usage ends with 2 and says what an option takes', async () => {
  const { code, stderr } = await demo('--transfers', 'many')
  expect(code).toBe(2)
  expect(stderr).toContain('must be a number of at least 1')
})
