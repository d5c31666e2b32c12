import { workflowOf } from '../../../domain/lane/intent-id.ts'
import type { LaneId } from '../../../domain/lane/lane-id.ts'
import { unpaged } from '../../../domain/lane/storage/pages.ts'
import { batchPrefix } from '../../contracts/names.ts'
import { queryBatch } from '../transfers/batches.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import { readLane } from './lanes.ts'
import type { TransferFilter } from '../transfers/transfer-list.ts'

const timeoutMs = 5_000

/**
 * What selects the transfers that a nonce of a lane is for: as long as it is not final, the ledger knows whose it is; later only the chain does. No transfer where
 * neither knows one. Throws LANE_NOT_FOUND, LANE_UNREACHABLE, TEMPORAL_UNAVAILABLE.
 * @param minedHash the hash of the transaction that used the nonce, if there is one; asked only if the ledger does not have it
 */
export async function transfersOfNonce(
  client: TemporalClient,
  lane: LaneId,
  nonce: number,
  minedHash?: () => Promise<string | undefined>,
): Promise<Pick<TransferFilter, 'ids' | 'txHash'>> {
  const { entries } = unpaged(await readLane(client, lane))
  const owner = entries[String(nonce)]?.owner
  if (!owner) {
    const txHash = await minedHash?.()
    return txHash === undefined ? { ids: [] } : { txHash }
  }
  const id = workflowOf(owner.intentId)
  if (!id.startsWith(batchPrefix(lane))) return { ids: [id] }
  const batch = await within(client, timeoutMs, () => queryBatch(client, id)).catch(ifGone(undefined))
  return { ids: (batch?.members ?? []).map(workflowOf) }
}
