import { type Client, QueryNotRegisteredError, QueryRejectedError } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import { awaitsNewSignatures, toRelayerError } from '../domain/errors.ts'
import type { Transfer } from '../domain/transfer/transfer.ts'
import { adoptSignal, statusQuery } from '../temporal/contracts/transfer.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'
import { fromTemporal } from '../temporal/client/errors.ts'

/**
 * Gives a well signed copy to a transfer that is parked because the guardians who signed its own are replaced; to no other, since a copy that nobody
 * waits for is no reason to wake one. True if it was given. Asks the server once for a transfer that is not parked.
 * Throws TEMPORAL_UNAVAILABLE: it may be waiting for the copy.
 */
export async function offerCopy(client: Client, id: string, { message }: Pick<Transfer, 'message'>): Promise<boolean> {
  const handle = client.workflow.getHandle(id)
  try {
    const { status, typedSearchAttributes } = await handle.describe()
    if (status.name !== 'RUNNING' || typedSearchAttributes.get(searchAttributes.TransferState) !== 'parked') return false
    if (!awaitsNewSignatures((await handle.query(statusQuery)).code)) return false
    await handle.signal(adoptSignal, { message })
    return true
  } catch (error) {
    // It ended while it was asked.
    if (error instanceof WorkflowNotFoundError || error instanceof QueryRejectedError || error instanceof QueryNotRegisteredError)
      return false
    throw toRelayerError(fromTemporal(error, {}, { transfer: id }))
  }
}
