import { afterEach, describe, expect, test, vi } from 'vitest'
import { OpenLaneWatcher } from '../../lanes/ledger/open-lane-watcher.ts'
import { silentLogger } from '../../observability/logger.ts'
import { fakeTime } from '../helpers/fake-time.ts'

let watcher: OpenLaneWatcher | undefined
afterEach(() => watcher?.stop())

function start(isOpen: () => boolean, wake: (id: string) => Promise<boolean> = async () => true) {
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
  watcher = new OpenLaneWatcher({ lanes: { open }, wake: onWake, logger: silentLogger(), everyMs: 1 })
  return { watcher, woken, checks: () => checks }
}

describe('OpenLaneWatcher', () => {
  fakeTime()

  test('waiting transfers are woken once a lane takes work; then the lanes are checked no more', async () => {
    let resumed = false
    const { watcher: own, woken, checks } = start(() => resumed)
    for (let id = 0; id < 50; id++) own.watchFor(`transfer-${id % 45}`)
    await vi.advanceTimersByTimeAsync(10)
    expect(checks()).toBeGreaterThan(3)
    expect(woken).toEqual([])
    resumed = true
    await vi.advanceTimersByTimeAsync(10)
    expect(woken).toHaveLength(45)
    expect(new Set(woken).size).toBe(45)
    const asked = checks()
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(checks()).toBe(asked)
    expect(woken).toHaveLength(45)
    await own.stop()
  })
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
