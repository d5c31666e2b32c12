import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../devnet/until.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Stage } from '../helpers/e2e.ts'
import { startStage } from '../helpers/e2e.ts'

const coins = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 17n + BigInt(index) * 10n ** 12n }))

describe('Temporal goes away', () => {
  let stage: Stage

  beforeAll(async () => {
    // Few slots, so that some are in flight and others wait when the server goes.
    stage = await startStage({ inMemory: false, window: 4, consistencyLevel: 200 })
    await stage.portage()
  })

  afterAll(() => stage?.close())

  test('killed in the middle of 20 transfers, with more coming while it is away: all are delivered once', async () => {
    const { temporal } = stage.devnet
    const first = await Promise.all([stage.send('ethereum', coins(8)), stage.send('bsc', coins(8))])
    const delivered = async () => (await stage.devnet.check(first.flat())).delivered
    await until(async () => (await delivered()) > 0, { timeoutMs: 30_000, everyMs: 50, what: 'a first delivery' })
    await temporal.kill('SIGKILL')
    expect(await delivered()).toBeLessThan(16)
    // The spy tells each VAA once: who listens must keep it until the server is back.
    await Promise.all([stage.send('ethereum', coins(2)), stage.send('bsc', coins(2))])
    await temporal.restart()
    const ends = await stage.outcomes(stage.sent, 60_000)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(stage.sent.map(() => ['delivered', true]))
    expect((await expectDelivered(stage)).revertedTransactions).toBe(0)
  })
})
