import type { Client } from '@temporalio/client'
import { RelayerError } from '../domain/errors.ts'
import type { TransferInput } from '../temporal/messages.ts'
import { chainQueue, searchAttributes } from '../temporal/names.ts'

/**
 * Starts a closed transfer again with the message that its last run was given; its progress is forgotten, the chains tell what is done.
 * Throws INTERNAL if the run's first event holds no transfer, and what the Temporal client throws.
 */
export async function restartTransfer(client: Client, id: string): Promise<void> {
  const transfer = await storedTransfer(client, id)
  await client.workflow.start('transfer', {
    workflowId: id,
    taskQueue: chainQueue(transfer.targetChain),
    args: [{ transfer } satisfies TransferInput],
    // The id is free for whoever closed undone; if a door was faster, its run is the one that we want.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: [
      { key: searchAttributes.TransferState, value: 'admitting' },
      { key: searchAttributes.Bridge, value: transfer.bridge },
      { key: searchAttributes.SourceChain, value: transfer.sourceChain },
      { key: searchAttributes.TargetChain, value: transfer.targetChain },
    ],
    staticSummary: `${transfer.sourceChain} → ${transfer.targetChain} #${transfer.sequence}, started again`,
  })
}

async function storedTransfer(client: Client, id: string): Promise<TransferInput['transfer']> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: id },
    maximumPageSize: 1,
  })
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  if (!payload) throw new RelayerError('INTERNAL', { detail: 'The first event of this workflow holds no input.', facts: { transfer: id } })
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter
  let decoded = [payload]
  for (const codec of [...payloadCodecs].reverse()) decoded = await codec.decode(decoded)
  return payloadConverter.fromPayload<TransferInput>(decoded[0]!).transfer
}
