import { roundOf, workflowOf, type Entry } from '../../../domain/lane/lane.ts'
import type { TransferTransaction } from '../../../domain/transfer/attempts.ts'
import { unpaged } from '../../../domain/lane/storage/pages.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import type { TemporalClient } from '../connection/client.ts'
import { readLane } from '../lanes/lanes.ts'

/** Oldest first; while it runs, also those of the lane's ledger. A silent ledger adds nothing. Never throws. */
export async function transactionsOf(client: TemporalClient, status: TransferStatus): Promise<readonly TransferTransaction[]> {
  const told = status.transactions ?? []
  const { id, lane, state } = status
  if (lane === undefined || (state !== 'broadcasting' && state !== 'pending')) return told
  const ledger = await readLane(client, lane).catch(() => undefined)
  const entries = ledger ? Object.values(unpaged(ledger).entries) : []
  const own = entries.filter(({ owner }) => owner && workflowOf(owner.intentId) === id)
  return [...told, ...own.flatMap((entry) => untold(entry, lane, told))]
}

/** The ledger appends attempts: the last ones lack a known hash. */
function untold({ nonce, owner, attempts }: Entry, lane: string, told: readonly TransferTransaction[]): TransferTransaction[] {
  const known = told.filter((one) => one.lane === lane && one.nonce === nonce).length
  const round = roundOf(owner?.intentId ?? '')
  return attempts.slice(known).map(({ kind, maxFee, tip }) => ({ lane, nonce, round, kind, maxFee, tip, fate: 'pending' }))
}
