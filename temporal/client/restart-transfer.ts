import type { Client } from '@temporalio/client'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { TransferInput } from '../contracts/transfer.ts'
import { chainQueue, searchAttributes } from '../contracts/names.ts'

/**
 * Starts a closed transfer again with the message and the class that its last run was given; its progress and its deadline are forgotten, the
 * chains tell what is done. Whoever calls has looked whether it may: a run that goes on is left alone, one that ended as cancelled is not.
 * Throws INTERNAL if the run's first event holds no transfer, and what the Temporal client throws.
 *
 * @param why for the Web UI: `started again`
 */
export async function restartTransfer(client: Client, id: string, why = 'started again'): Promise<void> {
  const { transfer, priority } = await storedInput(client, id)
  await client.workflow.start('transfer', {
    workflowId: id,
    taskQueue: chainQueue(transfer.targetChain),
    args: [{ transfer, ...(priority !== undefined && { priority }) } satisfies TransferInput],
    // The id is free for whoever closed undone; if a door was faster, its run is the one that we want.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: [
      { key: searchAttributes.TransferState, value: 'admitting' },
      { key: searchAttributes.Bridge, value: transfer.bridge },
      { key: searchAttributes.SourceChain, value: transfer.sourceChain },
      { key: searchAttributes.TargetChain, value: transfer.targetChain },
    ],
    staticSummary: `${transfer.sourceChain} → ${transfer.targetChain} #${transfer.sequence}, ${why}`,
  })
}

/** The transfer that a run was started with; the latest run if none is named. Throws as above. */
export async function storedTransfer(client: Client, id: string, runId?: string): Promise<Transfer> {
  return (await storedInput(client, id, runId)).transfer
}

async function storedInput(client: Client, id: string, runId?: string): Promise<TransferInput> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: id, ...(runId !== undefined && { runId }) },
    maximumPageSize: 1,
  })
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  if (!payload) throw new RelayerError('INTERNAL', { detail: 'The first event of this workflow holds no input.', facts: { transfer: id } })
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter
  let decoded = [payload]
  for (const codec of [...payloadCodecs].reverse()) decoded = await codec.decode(decoded)
  return payloadConverter.fromPayload<TransferInput>(decoded[0] ?? payload)
}
