import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edited } from '../../lab/edited-copy.ts'
import { Clock } from '../../lab/simulate/clock.ts'
import { knownBugs } from '../../lab/simulate/known-bugs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function simulated(...args: string[]): Promise<Record<string, unknown>> {
  const command = ['--import', 'tsx', join(root, 'lab/simulate/main.ts'), '--json', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root })
  const { seconds: _, perCoreSecond: __, ...result } = JSON.parse(stdout) as Record<string, unknown>
  return result
}

test('a seed gives the same result twice, and loses, doubles and leaves nothing', async () => {
  const args = ['--seed', '5', '--seeds', '4', '--transfers', '40']
  const [first, again] = await Promise.all([simulated(...args), simulated(...args)])
  expect(again).toEqual(first)
  expect(first).toMatchObject({ seeds: 4, transfers: 160, lost: 0, duplicateEffects: 0, nonceHoles: 0, stuck: 0, failures: [] })
  expect(Number(first['delivered']) + Number(first['cancelled'])).toBe(160)
})

/**
 * Prints how many of three finished simulations are still in memory. A fourth one is not counted, because the stack may
 * still refer to it.
 */
const countFinished = `
  const { Clock, replaceGlobals, world } = await import('./lab/simulate/clock.ts')
  replaceGlobals()
  const { Simulation } = await import('./lab/simulate/simulate.ts')
  const { planOf } = await import('./lab/simulate/plan.ts')
  async function finish(seed) {
    const simulation = new Simulation(planOf(seed, 30))
    await simulation.run()
    return new WeakRef(simulation)
  }
  const finished = []
  for (const seed of ['1', '2', '3', '4']) finished.push(await finish(seed))
  world.clock = new Clock()
  gc()
  process.stdout.write(String(finished.slice(0, 3).filter((one) => one.deref()).length))
  process.exit(0)
`

test('a finished simulation leaves memory, so that a long run does not fill it', async () => {
  const command = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', countFinished]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root })
  expect(stdout).toBe('0')
})

test('events run in the order of their times, and events of one time in the order in which they were made', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 200 }), async (times) => {
      const clock = new Clock()
      const seen: number[] = []
      for (const [index, time] of times.entries()) clock.after(time, () => void seen.push(index))
      await clock.run(Infinity, () => false)
      const expected = [...times.keys()].toSorted((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b)
      expect(seen).toEqual(expected)
    }),
  )
})

test('a cancelled event does not run, and time stops at the limit', async () => {
  const clock = new Clock()
  const seen: string[] = []
  clock.after(1, () => void seen.push('cancelled')).cancelled = true
  clock.after(2, () => void seen.push('in time'))
  clock.after(9, () => void seen.push('late'))
  await clock.run(5, () => false)
  expect(seen).toEqual(['in time'])
  expect(clock.now).toBe(2)
})

test.each(Object.entries(knownBugs))('the bug %s can be put back', async (_, bug) => {
  const text = await readFile(join(root, bug.file), 'utf8')
  expect(edited(text, bug)).not.toBe(text)
})
