import { WorkflowNotFoundError } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transferKinds } from '../../lab/devnet/wormhole/users.ts'
import { devnetTokenFeeWei } from '../../lab/devnet/relayer-config.ts'
import { inPool, mine, mineDearUntil, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { sendUnattested } from '../helpers/e2e-token.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'
import { untilWithdrawn } from '../helpers/e2e-withdrawn.ts'
import { expectTraced } from '../helpers/e2e-traces.ts'
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'

/** Each workflow task replays its history, which finds code that is not deterministic. */
describe('Without a workflow cache', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  /** Collects the traces. Tracing adds headers, which must not change a workflow's commands. */
  let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>

  beforeAll(async () => {
    stage = await startStage({ noCache: true, consistencyLevel: 200 })
    // After five updates a ledger continues as new, so the tests also replay continued runs.
    receiver = await startOtlpReceiver()
    const env = { PORTAGE_LANE_UPDATES_PER_RUN: '5', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    portage = await stage.portage({ env, args: ['--log-level', 'debug'] })
  })

  afterAll(async () => {
    await stage?.close()
  })

  test('ten transfers of all kinds, a wait, a retry and a cancel survive replays', async () => {
    const transfers = transferKinds.map((kind, index) => ({
      kind,
      amount: 10n ** 17n + BigInt(index) * 10n ** 12n,
      fee: devnetTokenFeeWei,
    }))
    const token = await sendUnattested(stage, 'ethereum', 1)
    const [waiting] = (await stage.identify(token.transfers)) as [Sent]
    await Promise.all([stage.send('ethereum', [...transfers, transfers[0]!]), stage.send('bsc', [...transfers, transfers[1]!])])
    expect((await stage.outcomes(stage.sent)).map(({ state }) => state)).toEqual(stage.sent.map(() => 'delivered'))

    await stage.reaches(waiting.id, 'waiting')
    const attested = await stage.identify(await token.attest())
    // The transfer may find the wrapper by itself before the signal arrives.
    const isOver = (error: unknown) => expect(error).toBeInstanceOf(WorkflowNotFoundError)
    await stage.client.workflow.getHandle(waiting.id).signal('retry').catch(isOver)
    expect(await stage.outcomes(attested)).toMatchObject([{ state: 'delivered' }])
    await expectDelivered(stage, [...stage.sent, ...attested])

    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    await stopMining(anvil)
    const [cancelled] = (await stage.send('ethereum', [transfers[0]!])) as [Sent]
    const [call] = await inPool(anvil, lane, 1)
    await stage.client.workflow.getHandle(cancelled.id).signal('cancel', { order: { by: 'night-shift', reason: 'a test' } })
    await untilWithdrawn(stage, 'bsc', call!.nonce)
    await mineDearUntil(anvil, call!.maxFeePerGas * 3n, lane, call!.nonce + 1)
    await startMining(anvil)
    await mine(anvil, 3)
    expect(await stage.outcomes([cancelled])).toMatchObject([{ state: 'cancelled' }])
    await expectNotDelivered(stage, [cancelled])
  })

  test('each delivered transfer has one trace from its submission to the node, named by its log lines', async () => {
    await expectTraced(receiver, portage, stage.sent.slice(0, 10))
    const sent = receiver.bodies.join().toLowerCase()
    for (const { privateKey } of stage.devnet.lanes) expect(sent).not.toContain(privateKey.slice(2).toLowerCase())
  })
})
