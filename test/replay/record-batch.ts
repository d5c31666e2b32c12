import { until } from '../../lab/devnet/until.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import { rolledBackSignal } from '../../temporal/contracts/transfer.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { type LaneProcess, startBatchSetting } from '../lanes/batch-setting.ts'
import type { Keep } from './record.ts'

/** Records a batch whose process reports its end, and a batch whose process has ended. */
export async function recordBatches(keep: Keep): Promise<void> {
  const setting = await startBatchSetting()
  const { network, ledgers } = setting
  const stage = { temporal: (...args: string[]) => runTemporalCli(ledgers.server, args) }
  const workflow = ({ id }: Batch) => ledgers.temporal.client.workflow.getHandle(id)
  const sent = async ({ enqueueAll }: LaneProcess) => {
    const [first] = await enqueueAll(await network.transfers(1n, 2n, 3n))
    if (first?.kind !== 'member') throw new Error(`They were to be in a batch: ${first?.kind}`)
    return first.batch
  }
  try {
    const process = await setting.process()
    const delivered = await sent(process)
    await network.target.finalise()
    await workflow(delivered).result()
    await keep('batch-reported', stage, delivered.id)

    process.agent.stop()
    const doomed = await setting.process()
    const left = await sent(doomed)
    doomed.agent.stop()
    const end = await (await setting.process()).serve()
    await workflow(left).signal(rolledBackSignal, { intentId: '', nonce: left.pending.nonce })
    const inPool = async () => (await pooled(network.target.anvil, network.relayer.address)).length === 1
    await until(inPool, { timeoutMs: 30_000, what: 'the batch to be in the pool' })
    await network.target.finalise()
    await workflow(left).result()
    await keep('batch-followed', stage, left.id)
    await end()
  } finally {
    await setting.stop()
  }
}
