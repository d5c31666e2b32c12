import { test } from 'vitest'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { untilListed } from '../helpers/e2e-runs.ts'
import { cheapLot, type Cost, costs, expectWithin, isWithin, tell } from '../helpers/e2e-budget.ts'
import { startStage } from '../helpers/e2e.ts'

const coins = Array.from({ length: 10 }, () => ({ kind: 'coin', amount: 10n ** 17n }) as const)
const budget = { stateTransitions: 7, historyEvents: 26 }

/**
 * Number of heartbeats in `ms`: the first after half the time-out of 15 s, then one every 4.5 s
 * (activities/run-step.ts).
 */
const heartbeatsIn = (ms: number) => (ms < 7_500 ? 0 : 1 + Math.floor((ms - 7_500) / 4_500))

/** `broadcast` takes about 15 s, so it sends one heartbeat, or more on a busy machine. */
test('a transfer with near finality and slow blocks costs only a few heartbeats more', async () => {
  const stage = await startStage({ worker: {}, consistencyLevel: 200, blockTimeSeconds: { ethereum: 5, bsc: 0.5 } })
  try {
    await stage.portage()
    const lot = async () => {
      const sent = await stage.send('bsc', coins)
      await untilListed(stage, sent, 'delivered')
      const spent = await costs(stage, sent)
      console.info(`near finality with slow blocks: ${tell(spent)}`)
      return spent
    }
    const mostOf = ({ ms }: Cost) => ({ ...budget, stateTransitions: budget.stateTransitions + heartbeatsIn(ms) })
    const spent = await cheapLot(lot, (all) => all.every((one) => isWithin(one, mostOf(one))))
    for (const one of spent) expectWithin(one, mostOf(one))
    await expectDelivered(stage)
  } finally {
    await stage.close()
  }
})
