import type { SettingsInput } from '../../temporal/contracts/settings.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { until } from '../../lab/devnet/until.ts'
import { ledgerQueue, settingsWorkflowId } from '../../temporal/contracts/names.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { startLedgers } from '../lanes/setting.ts'
import type { Keep } from './record.ts'

/** Records a run of the settings up to its continue-as-new, with an order of every kind. */
export async function recordSettings(keep: Keep): Promise<void> {
  const ledgers = await startLedgers()
  try {
    const { client } = ledgers.temporal
    const input: SettingsInput = { updatesPerRun: 3 }
    const handle = await client.workflow.start('settings', { workflowId: settingsWorkflowId, taskQueue: ledgerQueue, args: [input] })
    const author = { by: 'operator', reason: 'a recording' }
    const known = { bridges: [], lanes: [], nodes: { bsc: ['node-1'] } }
    await changeSettings(client, known, { ...author, orders: [{ kind: 'halt', scope: { chain: 'bsc' } }] })
    await changeSettings(client, known, {
      ...author,
      orders: [
        { kind: 'deny', what: 'recipient', value: `bsc/0x${'ab'.repeat(20)}` },
        { kind: 'setFees', scope: { kind: 'global' }, policy: { maxTip: '1' } },
        { kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: true } },
      ],
    })
    await changeSettings(client, known, {
      ...author,
      orders: [
        { kind: 'unhalt', scope: { chain: 'bsc' } },
        { kind: 'clearNode', chain: 'bsc', name: 'node-1' },
      ],
    })
    const next = async () => (await client.workflow.getHandle(settingsWorkflowId).describe()).runId !== handle.firstExecutionRunId
    await until(next, { timeoutMs: 20_000, what: 'the settings to go on in a new run' })
    const temporal = (...args: string[]) => runTemporalCli(ledgers.server, args)
    await keep('settings-first-run', { temporal }, settingsWorkflowId, handle.firstExecutionRunId)
  } finally {
    await ledgers.stop()
  }
}
