import { describe, expect, test } from 'vitest'
import { retrySignal, wakeSignal } from '../../temporal/contracts/transfer.ts'
import type { Admission } from '../../temporal/contracts/transfer-steps.ts'
import type { WorkflowHandle } from '@temporalio/client'
import { scriptedTransfers, sound } from './scripted.ts'

const dayMs = 86_400_000
const closed: Admission = { kind: 'waiting', code: 'BRIDGE_BUDGET', reason: 'the budget renews tomorrow', retryInMs: dayMs }

async function timersOf(handle: WorkflowHandle): Promise<number[]> {
  const { events } = await handle.fetchHistory()
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer ? [Number(timer.startToFireTimeout?.seconds) * 1_000] : [],
  )
}

describe('A transfer before a gate that says when it opens', () => {
  const on = scriptedTransfers()

  test('a transfer waits until its gate opens in one wait, and goes on waiting if woken early', async () => {
    on.script.admit = () => closed
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    for (const looks of [2, 3]) {
      await handle.signal(retrySignal)
      await on.reaches(handle, ({ state }) => state === 'waiting' && on.asked.admit.length === looks, `look ${looks}`)
    }
    expect(await timersOf(handle)).toEqual([dayMs, dayMs, dayMs])
    expect(await on.status(handle)).toMatchObject({ code: 'BRIDGE_BUDGET', rounds: 1 })
    on.script.admit = sound.admit
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(on.asked.admit).toHaveLength(4)
  })

  test('a deadline ends the wait for a gate sooner', async () => {
    on.script.admit = () => closed
    const { handle } = await on.startWithDeadline((asked) => asked.admit.length > 0)
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    expect(await on.status(handle)).toMatchObject({ code: 'DEADLINE_PASSED', reason: expect.stringContaining('renews tomorrow') })
    // After the deadline, an open gate must not lead to a delivery. Only an operator may order the delivery.
    const looks = on.asked.admit.length
    await handle.signal(wakeSignal)
    expect(await on.status(handle)).toMatchObject({ state: 'parked', code: 'DEADLINE_PASSED' })
    await handle.signal(retrySignal)
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to look again')
    expect(on.asked.admit).toHaveLength(looks + 1)
    await handle.terminate()
  })
})
