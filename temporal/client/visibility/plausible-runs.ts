import type { WorkflowExecutionInfo } from '@temporalio/client'
import { isU64 } from '../../../domain/stream/request.ts'
import { chainQueue, ledgerQueue, searchAttributes } from '../../contracts/names.ts'
import { type Reversal, reversalPrefix } from '../../contracts/reversal.ts'

/** Id, bridge and queue are as of Portage's transfers. Anyone who reaches Temporal can copy that form. */
export function isPlausibleTransfer({
  workflowId,
  taskQueue,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'workflowId' | 'taskQueue' | 'typedSearchAttributes'>): boolean {
  const target = typedSearchAttributes.get(searchAttributes.TargetChain)
  const bridge = typedSearchAttributes.get(searchAttributes.Bridge)
  return isIdOfTransfer(workflowId) && workflowId.startsWith(`${bridge}:`) && target !== undefined && taskQueue === chainQueue(target)
}

/** Undefined: not the form of Portage's reversals. */
export function reversalIn({ workflowId, taskQueue }: Pick<WorkflowExecutionInfo, 'workflowId' | 'taskQueue'>): Reversal | undefined {
  if (!workflowId.startsWith(reversalPrefix) || taskQueue !== ledgerQueue) return undefined
  const end = workflowId.lastIndexOf(':')
  const [transfer, run] = [workflowId.slice(reversalPrefix.length, end), workflowId.slice(end + 1)]
  return isIdOfTransfer(transfer) && /^[0-9a-f-]{36}$/.test(run) ? { transfer, run } : undefined
}

/** bridge:sourceId:emitter:sequence:digest16. */
function isIdOfTransfer(id: string): boolean {
  const [bridge, sourceId, emitter, sequence, digest = '', ...rest] = id.split(':')
  return Boolean(bridge && sourceId && emitter) && isU64(sequence) && /^[0-9a-f]{16}$/.test(digest) && rest.length === 0
}
