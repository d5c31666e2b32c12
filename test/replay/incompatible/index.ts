import { sleep } from '@temporalio/workflow'
import type { TransferInput } from '../../../temporal/contracts/transfer.ts'
import { transfer as compatible } from '../../../workflows/transfer/transfer.ts'

/** A transfer with one more command at its start. Without a patch, this change would break all running transfers. */
export async function transfer(input: TransferInput) {
  await sleep(1)
  return compatible(input)
}

export { audit } from '../../../workflows/audit.ts'
export { batch } from '../../../workflows/batch.ts'
export { operatorTransaction } from '../../../workflows/operator-transaction.ts'
export { lane } from '../../../workflows/lane.ts'
export { settings } from '../../../workflows/settings.ts'
export { stream } from '../../../workflows/stream.ts'
export { notifier } from '../../../workflows/notifier.ts'
export { idempotencyKey } from '../../../workflows/idempotency-key.ts'
export { reversal } from '../../../workflows/reversal.ts'
