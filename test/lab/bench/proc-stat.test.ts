import { expect, test } from 'vitest'
import { startCpuMeter } from '../../../lab/bench/cpu-meter.ts'
import { parseStat, threadGroupOf } from '../../../lab/bench/proc-stat.ts'

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

test.runIf(process.platform === 'linux')(
  'the CPU time of this process is counted, and that of a process that is gone is none',
  async () => {
    const meter = await startCpuMeter({ own: [process.pid], gone: [2 ** 22 + 1] })
    const begun = process.cpuUsage()
    const used = () => (process.cpuUsage(begun).user + process.cpuUsage(begun).system) / 1_000
    while (used() < 200);
    const { own, gone } = await meter.stop()
    // The limit is below 200 ms, because the kernel counts CPU time in steps of 10 ms.
    expect(own?.cpuMs).toBeGreaterThanOrEqual(180)
    expect(own?.rssPeakMiB).toBeGreaterThan(10)
    expect(gone).toMatchObject({ cpuMs: 0, rssPeakMiB: 0 })
  },
)
