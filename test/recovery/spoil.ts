import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker'
import { until } from '../../lab/devnet/until.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import type { Temporal } from '../../workers/temporal.ts'

let bundled: ReturnType<typeof bundleWorkflowCode> | undefined

/** Puts a command into the histories of running workflows that no build of ours makes. No other worker may serve their queue meanwhile. */
export async function spoil({ client, connection }: Temporal, workflowIds: readonly string[], taskQueue = ledgerQueue): Promise<void> {
  const workflowsPath = fileURLToPath(new URL('spoiled/index.ts', import.meta.url))
  bundled ??= bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
  const workflowBundle = await bundled
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, shutdownGraceTime: 0 })
  await worker.runUntil(async () => {
    for (const id of workflowIds) {
      const handle = client.workflow.getHandle(id)
      const timers = async () => (await handle.fetchHistory()).events?.filter((event) => event.timerStartedEventAttributes).length ?? 0
      const before = await timers()
      await handle.signal('spoil', (await handle.describe()).runId)
      await until(async () => (await timers()) > before, { timeoutMs: 60_000, what: `a command too many in ${id}` })
    }
  })
}
