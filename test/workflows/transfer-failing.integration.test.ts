import { Context } from '@temporalio/activity'
import { describe, expect, test } from 'vitest'
import { createChainSteps } from '../../activities/index.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { cancelSignal } from '../../temporal/contracts/transfer.ts'
import { bridgesWith, fakeEndpoint } from '../activities/fake-bridge.ts'
import { inItsRun } from '../activities/its-run.ts'
import { scriptedTransfers, transfer } from './scripted.ts'

/** On a real chain, a call that no node executes in time has this result. */
describe('A transfer whose preparation fails again and again while its chain makes blocks', () => {
  const on = scriptedTransfers()
  const fails = () => Promise.reject(new RelayerError('NODE_REFUSED', { detail: 'missing trie node' }))
  const heads = {
    current: { time: 1 },
    subscribe: (listen: (head: { time: number }) => void) => setInterval(() => listen({ time: Date.now() }), 200).unref(),
  }
  const { prepare } = createChainSteps({
    bridges: bridgesWith(fakeEndpoint({ demandSigned: fails })),
    chains: new Map([['bsc', { heads }]]),
    lanes: new Map([['bsc', {}]]),
    settings: () => noSettings,
  } as never)
  /** The fake bridge has this name. */
  const failing = (input: Parameters<typeof prepare>[0]) => {
    const { workflowExecution: _, ...info } = Context.current().info
    return inItsRun(prepare, () => info)({ ...input, transfer: { ...transfer, bridge: 'native-bridge' } })
  }

  test("a transfer whose step keeps failing waits with the failure's code, and a cancel ends it", async () => {
    Object.assign(on.script, { admit: fails, prepare: failing })
    const handle = await on.start()
    await on.reaches(handle, ({ state, code }) => state === 'waiting' && code === 'NODE_REFUSED', 'the transfer to wait')
    expect((await on.status(handle)).reason).toContain('missing trie node')
    await handle.signal(cancelSignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect(await handle.result()).toMatchObject({ state: 'cancelled' })
  })

  test('is parked after its deadline', async () => {
    Object.assign(on.script, { admit: fails, prepare: failing })
    const handle = await on.start({ deadline: Date.now() + 2_000 })
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    expect(await on.status(handle)).toMatchObject({ code: 'DEADLINE_PASSED' })
    await handle.terminate()
  })

  test.each([
    ['ahead', 86_400_000],
    ['behind', -86_400_000],
  ])('is parked in time although the clock of the process that started it was a day %s', async (_, wrongMs) => {
    Object.assign(on.script, { admit: fails, prepare: failing })
    const begun = Date.now()
    const handle = await on.start({ deadline: begun + wrongMs + 5_000, withinMs: 5_000 })
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    const { code, timeline } = await on.status(handle)
    expect(code).toBe('DEADLINE_PASSED')
    expect((timeline.at(-1)?.at ?? 0) - begun).toBeGreaterThanOrEqual(5_000)
    await handle.terminate()
  })
})
