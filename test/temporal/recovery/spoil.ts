import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker'
import { until } from '../../../lab/devnet/until.ts'
import { ledgerQueue } from '../../../temporal/contracts/names.ts'
import { ifGone } from '../../../temporal/client/connection/errors.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import type { Temporal } from '../../../workers/process/temporal.ts'

let bundled: ReturnType<typeof bundleWorkflowCode> | undefined

/**
 * Adds a command that no build makes to the histories. No other worker may serve `taskQueue` during the call. No task
 * is pending afterwards, so each workflow fails only at its next event.
 */
export async function spoil({ client, connection }: Temporal, workflowIds: readonly string[], taskQueue = ledgerQueue): Promise<void> {
  const workflowsPath = fileURLToPath(new URL('./spoiled/index.ts', import.meta.url))
  bundled ??= bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
  const workflowBundle = await bundled
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, shutdownGraceTime: 0 })
  await worker.runUntil(() => Promise.all(workflowIds.map((id) => spoilOne(client, id))))
}

async function spoilOne(client: TemporalClient, id: string): Promise<void> {
  let spoiled = ''
  let before = 0
  const look = async () => {
    const { runId } = await client.workflow.getHandle(id).describe()
    const handle = client.workflow.getHandle(id, runId)
    const fired = async () => (await handle.fetchHistory()).events?.filter((event) => event.timerFiredEventAttributes).length ?? 0
    if (spoiled === runId) {
      if ((await fired()) === before) return false
      const { status, raw } = await handle.describe()
      return status.name === 'RUNNING' && !raw.pendingWorkflowTask
    }
    spoiled = runId
    before = await fired()
    // A run with a full history immediately continues as new. The loop then spoils the next run.
    await handle.signal('spoil', runId).catch(ifGone(undefined))
    return false
  }
  await until(look, { timeoutMs: 60_000, what: `a command too many in ${id}` })
}
