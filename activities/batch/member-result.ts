import type { Endpoint } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import type { PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import type { BroadcastResult, Landed } from '../../temporal/contracts/transfer-steps.ts'

/** Is the nonce of the batch in a block without the effect for this transfer? */
export function isUseless(state: PendingTransactionState, endpoint: Endpoint, transfer: Transfer): boolean {
  return state.kind === 'included' && (state.noop || !endpoint.hasEffect(state.receipt, transfer))
}

/**
 * What became of a batch, as a result for the transfer of one of its members. That the batch failed says nothing about this transfer: another one
 * may have made it revert. So the transfer looks again, by itself.
 */
export function asMember(batch: Batch, result: BroadcastResult): BroadcastResult {
  switch (result.kind) {
    case 'delivered':
    case 'included':
      return { ...result, landed: shareOf(batch, result.landed) }
    case 'pending':
      return { ...result, reason: `in ${batch.id} with ${batch.members.length - 1} others: ${result.reason}` }
    case 'spent':
    case 'reverted':
      return { kind: 'seen' }
    default:
      return result
  }
}

/** Every member's share of the gas is the same, rounded down. */
function shareOf({ id, members }: Batch, landed: Landed): Landed {
  return { ...landed, gasPaid: String(BigInt(landed.gasPaid) / BigInt(members.length)), batch: id }
}
