import { randomUUID } from 'node:crypto'
import { defaultPayloadConverter } from '@temporalio/common'
import type { SettingsOrder } from '../../domain/settings/settings.ts'
import { type RetryHint, retrySignal } from '../contracts/transfer.ts'
import type { TemporalClient } from './client.ts'
import { fromOrTo, running, transfersWith } from './transfer-queries.ts'

const ended: RetryHint = { gate: true }

/**
 * Wakes the transfers that these orders may let go on, by one batch operation of the server, however many they are. Only a help: their own waits end
 * within a minute (a halt), or grow to half an hour (a ceiling). Never throws.
 */
export async function wakeAfterOrders(client: TemporalClient, orders: readonly SettingsOrder[]): Promise<void> {
  for (const visibilityQuery of new Set(orders.flatMap(waitingTransfersOf))) {
    await client.workflowService
      .startBatchOperation({
        namespace: client.options.namespace,
        jobId: randomUUID(),
        visibilityQuery,
        reason: 'the settings have changed',
        // The list lags: a transfer that was parked meanwhile waits for an operator, and the hint tells it that this signal is not from one.
        signalOperation: { signal: retrySignal.name, identity: 'portage', input: { payloads: [defaultPayloadConverter.toPayload(ended)] } },
      })
      .catch(() => {})
  }
}

/** The visibility query of the transfers that the order may let go on. */
function waitingTransfersOf(order: SettingsOrder): string[] {
  const waiting = { TransferState: 'waiting' }
  if (order.kind === 'setFees') {
    const { scope } = order
    if (scope.kind === 'transfer') return [transfersWith(waiting, running, `WorkflowId = '${scope.id.replaceAll(/[^\w:-]/g, '')}'`)]
    return [transfersWith({ ...waiting, TargetChain: scope.kind === 'chain' || scope.kind === 'call' ? scope.chain : undefined }, running)]
  }
  if (order.kind !== 'unhalt') return []
  const { bridge, chain, sourceChain, targetChain } = order.scope
  const route = { Bridge: bridge, SourceChain: sourceChain, TargetChain: targetChain }
  return [transfersWith({ ...waiting, ...route }, running, ...fromOrTo(chain))]
}
