import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Summary } from '../../lab/demo/summary.ts'
import { run } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Arguments of `node` that start the demo as `npm run demo -- …` does, but without the set-up. */
const command = (...args: string[]) => [
  ...['--import', 'tsx', `${root}/lab/demo/main.ts`, '--in-memory', '--keys', '1', '--rate', '0'],
  ...args,
]
const demo = (...args: string[]) => run(process.execPath, command(...args), { timeoutMs: 170_000 })

test('demo --json prints one object with the figures of the run, and nothing else on stdout', async () => {
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

test('the demo prints a table, and with --keep the page, token and Web UI, which run until Ctrl-C', async () => {
  const child = spawn(process.execPath, command('--transfers', '2', '--keep'), { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const closed = once(child, 'close')
  const giveUp = () => (child.exitCode === null ? undefined : stderr)
  const places = /Staying up. Ctrl-C ends it.\n {2}Page: (\S+)\n {2}Access token: (\S+)\n {2}Web UI: (\S+)\n/
  await until(() => places.test(stderr), { timeoutMs: 170_000, what: 'the demo to stay up', giveUp })
  const [, page, token, webUi] = places.exec(stderr) ?? []
  expect((await fetch(`${page}v1/lanes`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  child.kill('SIGINT')
  expect(await closed).toEqual([0, null])
  const rows = new Map(stdout.split('\n').map((line) => [line.slice(2, 62).trim(), line.slice(62)]))
  expect(rows.get('delivered')).toBe('2 of 2, exactly once (independent checker)')
  expect(rows.get('lost / twice / wrong balance')).toBe('0 / 0 / 0')
  expect([...rows.keys()]).toEqual(expect.arrayContaining(['nonce holes', 'throughput', 'state transitions per transfer']))
  await expect(fetch(webUi ?? '')).rejects.toThrow('fetch failed')
})

test('wrong options of the demo end with 2 and a reason', async () => {
  const { code, stderr } = await demo('--transfers', 'many')
  expect(code).toBe(2)
  expect(stderr).toContain('must be a number of at least 1')
})
