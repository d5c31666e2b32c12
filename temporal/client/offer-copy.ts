import { awaitsNewSignatures, toRelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import { adoptSignal, statusQuery } from '../contracts/transfer.ts'
import type { TemporalClient } from './client.ts'
import { fromTemporal, isGone, isQueryRefused } from './errors.ts'

/**
 * Gives a well signed copy to a transfer that is parked because the guardians who signed its own are replaced; to no other, since a copy that is not
 * needed is no reason to wake one. True if it was given. One call for a transfer that is not parked.
 * Throws TEMPORAL_UNAVAILABLE: it may be waiting for the copy.
 */
export async function offerCopy(client: TemporalClient, id: string, { message }: Pick<Transfer, 'message'>): Promise<boolean> {
  const handle = client.workflow.getHandle(id)
  try {
    const { status, typedSearchAttributes } = await handle.describe()
    if (status.name !== 'RUNNING' || typedSearchAttributes.get(searchAttributes.TransferState) !== 'parked') return false
    if (!awaitsNewSignatures((await handle.query(statusQuery)).code)) return false
    await handle.signal(adoptSignal, { message })
    return true
  } catch (error) {
    // It ended meanwhile.
    if (isGone(error) || isQueryRefused(error)) return false
    throw toRelayerError(fromTemporal(error, {}, { transfer: id }))
  }
}
