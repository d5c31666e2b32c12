import { afterEach, expect, test } from 'vitest'
import { createOpenLaneWatcher } from '../../lanes/ledger/open-lanes.ts'
import type { Service } from '../../runtime/wait.ts'
import { silentLogger } from '../../observability/logger.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

let polling: Service | undefined
afterEach(() => polling?.stop())

function start(
  isOpen: () => boolean,
  wake: (id: string) => Promise<boolean> = async () => true,
  logger = silentLogger(),
  onTrial = async () => false,
) {
  const woken: string[] = []
  let checks = 0
  const open = async () => {
    checks += 1
    return isOpen() ? ['evm-1:0x0'] : []
  }
  const onWake = (id: string) => {
    woken.push(id)
    return wake(id)
  }
  const watcher = createOpenLaneWatcher({ lanes: { open, onTrial }, wake: onWake, logger, everyMs: 1 })
  polling = watcher.start()
  return { watcher, woken, checks: () => checks }
}

test('waiting transfers are woken once a lane takes work; then the lanes are checked no more', async () => {
  let resumed = false
  const { watcher: own, woken, checks } = start(() => resumed)
  for (let id = 0; id < 50; id++) own.watchFor(`transfer-${id % 45}`)
  await expect.poll(checks).toBeGreaterThan(3)
  expect(woken).toEqual([])
  resumed = true
  await expect.poll(() => woken).toHaveLength(45)
  expect(new Set(woken).size).toBe(45)
  const asked = checks()
  own.watchFor('another')
  await expect.poll(() => woken).toHaveLength(46)
  expect(checks()).toBe(asked + 1)
})

test('a failed wake-up is repeated at the next check; a transfer that waits again is watched again', async () => {
  let failures = 2
  const { watcher: own, woken } = start(
    () => true,
    async () => {
      if (failures-- > 0) throw new Error('away')
      return true
    },
  )
  own.watchFor('a')
  await expect.poll(() => woken).toEqual(['a', 'a', 'a'])
  own.watchFor('a')
  await expect.poll(() => woken).toHaveLength(4)
})

test('a transfer that has ended is woken by nothing and not counted in the log', async () => {
  const { logger, lines } = recordingLogger()
  const { watcher: own } = start(
    () => true,
    async (id) => id !== 'ended',
    logger,
  )
  for (const id of ['a', 'b', 'ended']) own.watchFor(id)
  await expect.poll(() => lines).toMatchObject([{ message: 'a lane takes work again', woken: 2 }])
})

test('while the open lanes are on trial, a check wakes few transfers; later it wakes all', async () => {
  const before: number[] = []
  const onTrial = async () => before.push(woken.length) < 3
  const { watcher: own, woken } = start(() => true, undefined, undefined, onTrial)
  for (let id = 0; id < 300; id++) own.watchFor(`transfer-${id}`)
  await expect.poll(() => woken).toHaveLength(300)
  expect(before).toEqual([0, 5, 10])
})

test('lanes are checked only after the start, so a process whose Worker cannot start keeps no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const created = createOpenLaneWatcher({
    lanes: { open: async () => [], onTrial: async () => false },
    wake: async () => true,
    logger: silentLogger(),
    everyMs: 60_000,
  })
  await new Promise(setImmediate)
  expect(timers()).toBe(before)
  polling = created.start()
})
