import { ledgerQueue, searchAttributes } from '../../contracts/names.ts'
import { reversalId, type Reversal } from '../../contracts/reversal.ts'
import type { TemporalClient } from '../connection/client.ts'
import { ifGone, startUnlessTaken } from '../connection/errors.ts'

/** Call it before the transfer starts again. `runId`: the run that delivered; absent: the latest. */
export async function recordReversal(client: TemporalClient, transfer: string, runId?: string): Promise<void> {
  const described = await client.workflow.getHandle(transfer, runId).describe().catch(ifGone(undefined))
  const value = (name: keyof typeof searchAttributes) => described?.typedSearchAttributes.get(searchAttributes[name])
  if (!described || described.status.name !== 'COMPLETED' || value('TransferState') !== 'delivered') return
  const txHash = value('TxHash')
  const input: Reversal = { transfer, run: described.runId, ...(txHash !== undefined && { txHash }) }
  const kept = (['Bridge', 'SourceChain', 'TargetChain', 'Lane', 'TxHash'] as const).flatMap((name) => {
    const text = value(name)
    return text === undefined ? [] : [{ key: searchAttributes[name], value: text }]
  })
  await startUnlessTaken(() =>
    client.workflow.start('reversal', {
      workflowId: reversalId(input),
      taskQueue: ledgerQueue,
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
      typedSearchAttributes: kept,
      staticSummary: `the delivery of ${transfer} is gone`,
    }),
  )
}
