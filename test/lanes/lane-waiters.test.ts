import { afterEach, describe, expect, test, vi } from 'vitest'
import { LaneWaiters } from '../../lanes/ledger/lane-waiters.ts'
import { silentLogger } from '../../observability/logger.ts'
import { fakeTime } from '../helpers/fake-time.ts'

let waiters: LaneWaiters | undefined
afterEach(() => waiters?.stop())

function start(isOpen: () => boolean, wake: (id: string) => Promise<boolean> = async () => true) {
  const woken: string[] = []
  let looks = 0
  const open = async () => {
    looks += 1
    return isOpen() ? ['evm-1:0x0'] : []
  }
  const tell = (id: string) => {
    woken.push(id)
    return wake(id)
  }
  waiters = new LaneWaiters({ lanes: { open }, wake: tell, logger: silentLogger(), everyMs: 1 })
  return { waiters, woken, looks: () => looks }
}

describe('for hours', () => {
  fakeTime()

  test('all who wait are woken once a lane takes work, and not before; then nothing is asked any more', async () => {
    let resumed = false
    const { waiters: own, woken, looks } = start(() => resumed)
    for (let id = 0; id < 50; id++) own.add(`transfer-${id % 45}`)
    await vi.advanceTimersByTimeAsync(10)
    expect(looks()).toBeGreaterThan(3)
    expect(woken).toEqual([])
    resumed = true
    await vi.advanceTimersByTimeAsync(10)
    expect(woken).toHaveLength(45)
    expect(new Set(woken).size).toBe(45)
    const asked = looks()
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(looks()).toBe(asked)
    expect(woken).toHaveLength(45)
    await own.stop()
  })
})

test('one that could not be woken is woken at the next look; one that waits again is watched again', async () => {
  let failures = 2
  const { waiters: own, woken } = start(
    () => true,
    async () => {
      if (failures-- > 0) throw new Error('away')
      return true
    },
  )
  own.add('a')
  await expect.poll(() => woken).toEqual(['a', 'a', 'a'])
  own.add('a')
  await expect.poll(() => woken).toHaveLength(4)
})
