import { listWorkflows } from '../../temporal/client/connection/client.ts'
import { claimKey } from '../../temporal/client/calls/idempotency-key.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { startLedgers } from '../lanes/setting.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Keep } from './record.ts'

/** Records a client's idempotency key, from the request to the stored answer. */
export async function recordIdempotencyKey(keep: Keep): Promise<void> {
  const ledgers = await startLedgers()
  try {
    const { client } = ledgers.temporal
    const request = { key: ['night-shift', 'POST', '/v1/transfers', 'a-key'], request: { body: 'a recording' } }
    const claim = await claimKey(client, request)
    if (claim.kind !== 'first') throw new Error('the key was taken before')
    const [run] = await until(
      async () => {
        const runs = await listWorkflows(client, `WorkflowType = 'idempotencyKey'`)
        // A history of five events or more has the timer of the waiting run.
        const [one] = runs
        return one && (await client.workflow.getHandle(one.workflowId).describe()).historyLength >= 5 && runs
      },
      { timeoutMs: 60_000, what: 'it to wait' },
    )
    await claim.answer({ kind: 'answered', status: 202, body: { id: 'a-transfer' } })
    const again = async () => (await claimKey(client, request).catch(() => undefined))?.kind === 'answered'
    await until(again, { timeoutMs: 60_000, what: 'the answer to be kept' })
    await keep('idempotency-key-answered', { temporal: (...args) => runTemporalCli(ledgers.server, args) }, run!.workflowId)
  } finally {
    await ledgers.stop()
  }
}
