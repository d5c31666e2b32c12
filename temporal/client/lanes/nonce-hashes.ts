import { workflowOf } from '../../../domain/lane/intent-id.ts'
import type { Entry } from '../../../domain/lane/lane.ts'
import type { LaneId } from '../../../domain/lane/lane-id.ts'
import type { TransferTransaction } from '../../../domain/transfer/attempts.ts'
import { type TemporalClient, within } from '../connection/client.ts'

/** Most nonces whose owners are asked, the lowest: each is a query. */
const mostAsked = 32
const timeoutMs = 3_000

/** What the owners of nonces tell of them: transfers all that was signed, operators' transactions and batches what is in a block. */
interface Told {
  readonly transactions?: readonly TransferTransaction[]
  readonly nonce?: number
  readonly txHash?: string
}

/**
 * The hash of the newest transaction of nonces of a lane, as far as their owners have told: the ledger keeps none, and one that was just signed is told with the
 * next look. Of the lowest nonces only. Never throws.
 */
export async function hashesOf(client: TemporalClient, lane: LaneId, entries: readonly Entry[]): Promise<ReadonlyMap<number, string>> {
  const owned = entries.flatMap(({ nonce, owner }) => (owner ? [{ nonce, id: workflowOf(owner.intentId) }] : [])).slice(0, mostAsked)
  const found = owned.map(async ({ nonce, id }) => {
    const told = await within(client, timeoutMs, () => client.workflow.getHandle(id).query<Told>('status')).catch((): Told => ({}))
    const hash = told.transactions?.findLast((one) => one.lane === lane && one.nonce === nonce && one.hash !== undefined)?.hash
    return [nonce, hash ?? (told.nonce === nonce ? told.txHash : undefined)] as const
  })
  return new Map((await Promise.all(found)).flatMap(([nonce, hash]) => (hash === undefined ? [] : [[nonce, hash] as const])))
}
