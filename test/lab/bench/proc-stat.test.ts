import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { namedThreads, startCpuMeter } from '../../../lab/bench/cpu-meter.ts'
import { parseStat, threadGroupOf } from '../../../lab/bench/proc-stat.ts'
import { until } from '../../../lab/devnet/until.ts'

const rest = 'S 1 42 42 0 -1 4194560 1200 0 3 0 250 50 0 0 20 0 11 0 123456 1048576000 25600 18446744073709551615 1 1 0 0'

test('a line of /proc/<pid>/stat is read, also with spaces and brackets in the name', () => {
  expect(parseStat(`42 (node) ${rest}\n`)).toEqual({ name: 'node', cpuMs: 3_000, rss: 104_857_600 })
  expect(parseStat(`42 (a (b) c) ${rest}`).name).toBe('a (b) c')
})

test.each(['', '42 node S 1', '42 (node) S 1'])('a line of another form than /proc/<pid>/stat is refused: %j', (line) => {
  expect(() => parseStat(line)).toThrow('Not a line')
})

test('threads are grouped by their names', () => {
  expect(threadGroupOf('anything', true)).toBe('main')
  expect(threadGroupOf('js-worker', false)).toBe('workflow')
  expect(threadGroupOf('js-main', false)).toBe('pool')
  expect(threadGroupOf('node', false)).toBe('gcJit')
  expect(threadGroupOf('tokio-runtime-w', false)).toBe('core')
})

test('the names that newer versions of Node give to their own threads are known', () => {
  for (const name of ['V8Worker', 'DelayedTaskSche', 'SignalInspector']) expect(threadGroupOf(name, false)).toBe('gcJit')
  for (const name of ['WorkerThread', 'Watchdog']) expect(threadGroupOf(name, false)).toBe('workflow')
  expect(threadGroupOf('libuv-worker', false)).toBe('pool')
})

const busy = `
  const { Worker, isMainThread } = require('node:worker_threads')
  const spin = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); }
  if (isMainThread) {
    new Worker(process.argv[1])
    require('node:crypto').pbkdf2('a', 'b', 40_000_000, 64, 'sha512', () => {})
    process.stdout.write('.')
  } else setInterval(() => spin(20), 30)
  setInterval(() => {}, 1_000)
`

test.runIf(process.platform === 'linux')('the threads of this version of Node are kept apart, and none is one of Temporal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portage-threads-'))
  const script = join(folder, 'busy.cjs')
  await writeFile(script, busy)
  const child = spawn(process.execPath, [script], { env: { ...process.env, ...namedThreads }, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(child.stdout, 'data')
    const meter = await startCpuMeter({ node: [child.pid ?? 0] })
    const busyThreads = async () => (await meter.stop())['node']?.threadMs ?? { workflow: 0, pool: 0, core: 0 }
    const isBusy = () => busyThreads().then(({ workflow, pool }) => workflow > 0 && pool > 0)
    await until(isBusy, { timeoutMs: 30_000, everyMs: 100, what: 'both threads to be busy' })
    expect(await busyThreads()).toMatchObject({ core: 0 })
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
})

test.runIf(process.platform === 'linux')(
  'the CPU time of this process is counted, and that of a process that is gone is none',
  async () => {
    const meter = await startCpuMeter({ own: [process.pid], gone: [2 ** 22 + 1] })
    const begun = process.cpuUsage()
    const used = () => (process.cpuUsage(begun).user + process.cpuUsage(begun).system) / 1_000
    while (used() < 200);
    const { own, gone } = await meter.stop()
    // The minimum is below 200 ms, because the kernel counts CPU time in steps of 10 ms.
    expect(own?.cpuMs).toBeGreaterThanOrEqual(180)
    expect(own?.rssPeakMiB).toBeGreaterThan(10)
    expect(gone).toMatchObject({ cpuMs: 0, rssPeakMiB: 0 })
  },
)
