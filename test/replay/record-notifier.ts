import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../../lab/devnet/until.ts'
import { recordReversal } from '../../temporal/client/transfers/start-transfer.ts'
import { orderOfNotifier, readNotifier } from '../../temporal/client/settings/notifiers.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import { type NotifierInput, notifierWorkflowId } from '../../temporal/contracts/notifier.ts'
import { reversalPrefix } from '../../temporal/contracts/reversal.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { receiverAt, startNotificationSetting } from '../operations/notifications/setting.ts'
import type { Keep } from './record.ts'

/** Records a notifier whose receiver fails, is disabled and is enabled again, and a reversal. */
export async function recordNotifier(keep: Keep): Promise<void> {
  const on = await startNotificationSetting()
  let status = 503
  const server = createServer((_, response) => response.writeHead(status).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { client } = on.ledgers.temporal
  const input: NotifierInput = { receiver: 'books', stepsPerRun: 6 }
  const handle = await client.workflow.start('notifier', { workflowId: notifierWorkflowId('books'), taskQueue: ledgerQueue, args: [input] })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const end = await on.serve([receiverAt('books', url, { events: ['transfer.delivered'] })])
  const order = { by: 'operator', reason: 'a recording' }
  const state = (look: (state: NonNullable<Awaited<ReturnType<typeof readNotifier>>>) => boolean, what: string) =>
    until(async () => look((await readNotifier(client, 'books'))!), { timeoutMs: 60_000, what })
  try {
    const id = await on.transfer('1')
    await state(({ failure }) => failure !== undefined, 'a try to fail')
    status = 204
    await state(({ counts }) => counts.sent > 0, 'the notification of the delivery')
    await orderOfNotifier(client, 'books', { kind: 'disable', order })
    await state(({ disabled }) => disabled !== undefined, 'it to be disabled')
    await orderOfNotifier(client, 'books', { kind: 'enable', order })
    await recordReversal(client, id)
    await state(({ counts }) => counts.sent > 1, 'the notification of the reversal')
    const next = async () => (await client.workflow.getHandle(notifierWorkflowId('books')).describe()).runId !== handle.firstExecutionRunId
    await until(next, { timeoutMs: 60_000, what: 'it to go on in a new run' })
    const temporal = (...args: string[]) => runTemporalCli(on.ledgers.server, args)
    await keep('notifier-first-run', { temporal }, notifierWorkflowId('books'), handle.firstExecutionRunId)
    const { runId } = await client.workflow.getHandle(id).describe()
    await keep('reversal-recorded', { temporal }, `${reversalPrefix}${id}:${runId}`)
  } finally {
    await end()
    server.close()
    await on.stop()
  }
}
