import { workflowOf, type Entry, type LaneId } from '../../../domain/lane/lane.ts'
import { unpaged } from '../../../domain/lane/storage/pages.ts'
import { batchPrefix } from '../../contracts/names.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import { queryBatch } from '../transfers/batches.ts'
import type { TransferFilter } from '../transfers/transfer-list.ts'
import { readLane } from './lanes.ts'

const mostAsked = 32
const hashTimeoutMs = 3_000
const batchTimeoutMs = 5_000

type OwnerStatus = Partial<Pick<TransferStatus, 'transactions' | 'nonce' | 'txHash'>>

/** Latest transaction hash of each nonce, as the workflow that owns the nonce knows it. Never throws. */
export async function hashesOfNonces(
  client: TemporalClient,
  lane: LaneId,
  entries: readonly Entry[],
): Promise<ReadonlyMap<number, string>> {
  const owned = entries.flatMap(({ nonce, owner }) => (owner ? [{ nonce, id: workflowOf(owner.intentId) }] : [])).slice(0, mostAsked)
  const found = owned.map(async ({ nonce, id }) => {
    const query = () => client.workflow.getHandle(id).query<OwnerStatus>('status')
    const status = await within(client, hashTimeoutMs, query).catch((): OwnerStatus => ({}))
    const hash = status.transactions?.findLast((one) => one.lane === lane && one.nonce === nonce && one.hash !== undefined)?.hash
    return [nonce, hash ?? (status.nonce === nonce ? status.txHash : undefined)] as const
  })
  return new Map((await Promise.all(found)).flatMap(([nonce, hash]) => (hash === undefined ? [] : [[nonce, hash] as const])))
}

/**
 * Filter for the transfers of a nonce: the ids of its owners or, if the ledger knows no owner, the hash from
 * `minedHash`.
 */
export async function transfersOfNonce(
  client: TemporalClient,
  lane: LaneId,
  nonce: number,
  minedHash: () => Promise<string | undefined>,
): Promise<Pick<TransferFilter, 'ids' | 'txHash'>> {
  const { entries } = unpaged(await readLane(client, lane))
  const owner = entries[String(nonce)]?.owner
  if (!owner) {
    const txHash = await minedHash()
    return txHash === undefined ? { ids: [] } : { txHash }
  }
  const id = workflowOf(owner.intentId)
  if (!id.startsWith(batchPrefix(lane))) return { ids: [id] }
  const batch = await within(client, batchTimeoutMs, () => queryBatch(client, id)).catch(ifGone(undefined))
  return { ids: (batch?.members ?? []).map(workflowOf) }
}
