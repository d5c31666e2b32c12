import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Observation } from '../../domain/lane/messages.ts'
import { pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { resetRun } from '../lanes/reset-run.ts'
import { laneOf, startLedgers, request } from '../lanes/setting.ts'
import type { Keep } from './record.ts'

/**
 * Records a ledger that is paused and therefore refuses a request. Then the run is reset to the point right after this
 * refusal, and grants the same request.
 */
export async function recordLaneReset(keep: Keep): Promise<void> {
  const ledgers = await startLedgers()
  try {
    const config = { lane: laneOf(devnetAccount(60)), window: 8, fillAfterBlocks: 100 }
    const workflowId = laneWorkflowId(config.lane)
    const client = ledgers.client(config)
    const handle = ledgers.temporal.client.workflow.getHandle(workflowId)
    const ask = async (name: string) => {
      const { owner, first: attempt } = request(name)
      return client.ask({ kind: 'grant', owner, attempt })
    }
    const seen: Observation = {
      latest: 0,
      finalized: 0,
      height: 10,
      hash: '0x0a',
      balance: String(10n ** 24n),
      claims: [],
      since: 1,
      pending: 0,
    }
    client.observe(seen)
    await until(() => client.view?.synced, { timeoutMs: 20_000, what: 'the ledger to be synced' })
    await ask('first')
    await handle.signal(pauseSignal, { order: { by: 'night-shift', reason: 'a recording' } })
    await ask('refused')
    await handle.signal(resumeSignal)
    await ask('second')
    await resetRun(ledgers.temporal, workflowId, { afterUpdates: 2 })
    await ask('refused')
    client.observe({ ...seen, height: 11, hash: '0x0b', latest: 2, pending: 2 })
    await until(async () => (await ask('refused')).kind === 'granted', { timeoutMs: 20_000, what: 'a nonce to be given' })
    await keep('lane-reset-run', { temporal: (...args: string[]) => runTemporalCli(ledgers.server, args) }, workflowId)
  } finally {
    await ledgers.stop()
  }
}
