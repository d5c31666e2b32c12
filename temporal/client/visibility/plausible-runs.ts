import type { WorkflowExecutionInfo } from '@temporalio/client'
import { isU64 } from '../../../domain/stream/checks.ts'
import { chainQueue, ledgerQueue, searchAttributes } from '../../contracts/names.ts'
import { type Reversal, reversalPrefix } from '../../contracts/reversal.ts'

/**
 * Whether a run in a list looks as each run of a transfer does that Portage has started: an id as `transferId` makes
 * it, the bridge of the id in its search attributes, on the queue of its target. Whoever reaches Temporal can make one
 * that does; most that are started to be seen do not.
 */
export function isPlausibleTransfer({
  workflowId,
  taskQueue,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'workflowId' | 'taskQueue' | 'typedSearchAttributes'>): boolean {
  const target = typedSearchAttributes.get(searchAttributes.TargetChain)
  const bridge = typedSearchAttributes.get(searchAttributes.Bridge)
  return isIdOfTransfer(workflowId) && workflowId.startsWith(`${bridge}:`) && target !== undefined && taskQueue === chainQueue(target)
}

/**
 * The delivery that a run of the type `reversal` tells to be gone; undefined: it has none of the form that Portage
 * gives it.
 */
export function reversalIn({ workflowId, taskQueue }: Pick<WorkflowExecutionInfo, 'workflowId' | 'taskQueue'>): Reversal | undefined {
  if (!workflowId.startsWith(reversalPrefix) || taskQueue !== ledgerQueue) return undefined
  const end = workflowId.lastIndexOf(':')
  const [transfer, run] = [workflowId.slice(reversalPrefix.length, end), workflowId.slice(end + 1)]
  return isIdOfTransfer(transfer) && /^[0-9a-f-]{36}$/.test(run) ? { transfer, run } : undefined
}

/** As `transferId` makes it: bridge:sourceId:emitter:sequence:digest16. */
function isIdOfTransfer(id: string): boolean {
  const [bridge, sourceId, emitter, sequence, digest = '', ...rest] = id.split(':')
  return Boolean(bridge && sourceId && emitter) && isU64(sequence) && /^[0-9a-f]{16}$/.test(digest) && rest.length === 0
}
