import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resetBack, terminate } from '../../lab/faults/temporal-faults.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { inPool, nonceOf, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Sent, type Stage, ledgerId, startStage } from '../helpers/e2e.ts'
import { deliveredOnce } from './delivered-once.ts'
import { resubmit, sendCoins, startSound } from './processes.ts'

const count = 3

describe('workflows terminated or reset in Temporal', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  const chain = () => stage.devnet.chains.bsc.anvil
  const lane = () => stage.devnet.lanes.find((one) => one.chain === 'bsc')?.address ?? ''
  const ledger = () => ledgerId(stage.devnet, 'bsc')
  const inFlight = async () => {
    await stopMining(chain())
    const sent = await sendCoins(stage, count)
    await inPool(chain(), lane(), count)
    return sent
  }
  const allIsWell = async (sent: readonly Sent[]) => {
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
    expect(await nonceOf(chain(), lane())).toBe(stage.sent.length)
  }

  beforeAll(async () => {
    stage = await startStage()
    portage = await startSound(stage)
  })

  afterAll(() => stage?.close())

  test('transfers terminated with pending transactions, and submitted again, are delivered once', async () => {
    const sent = await inFlight()
    for (const { id } of sent) await terminate(stage.client, id)
    await resubmit(stage, portage, sent)
    await allIsWell(sent)
  })

  test('transfers reset to their beginning with pending transactions are delivered once', async () => {
    const sent = await inFlight()
    for (const { id } of sent) await resetBack(stage.client, id, 1)
    await allIsWell(sent)
  })

  test('after a lane is terminated with pending transactions, all transfers are delivered once', async () => {
    const sent = await inFlight()
    await terminate(stage.client, ledger())
    await allIsWell([...sent, ...(await sendCoins(stage, count))])
  })

  test('after a lane is reset to its beginning with pending transactions, all are delivered once', async () => {
    const sent = await inFlight()
    // If the ledger has just continued as new, its run has no completed task yet, and cannot be reset.
    const isReset = () => resetBack(stage.client, ledger(), 1).then(() => true)
    await until(isReset, { timeoutMs: 30_000, what: 'the run of the ledger to have completed a task' })
    await allIsWell([...sent, ...(await sendCoins(stage, count))])
  })
})
