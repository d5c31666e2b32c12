import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import { isOutcome } from '../../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../connection/client.ts'
import { isForAll } from '../connection/errors.ts'
import { listTransferPage, type TransferFilter, type TransferRow } from './transfer-list.ts'
import { cancelTransfer, expediteTransfer, retryTransfer, startTransferAgain } from './transfers.ts'

export const transferOrders = ['retry', 'cancel', 'expedite'] as const
export type TransferOrder = (typeof transferOrders)[number]

/** Most are `asked`: a signal has no answer. */
export type OrderResult = 'woken' | 'started again' | 'asked'

export type Orderable = Pick<TransferRow, 'id' | 'state' | 'execution'>

/** Why an order would have no effect. Undefined: it may have one. */
export function whyNot(kind: TransferOrder, { state, execution }: Orderable): string | undefined {
  const isOpen = execution === 'RUNNING'
  if (kind !== 'retry') return isOpen ? undefined : 'This transfer is closed already.'
  return state === 'delivered' ? 'This transfer is delivered: there is nothing to retry.' : undefined
}

/** `retry` also starts a closed one again. Throws INPUT_INVALID, TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function orderTransfer(client: TemporalClient, transfer: Orderable, kind: TransferOrder, order: Order): Promise<OrderResult> {
  const { id, state, execution } = transfer
  const detail = whyNot(kind, transfer)
  if (detail !== undefined) throw new RelayerError('INPUT_INVALID', { detail, facts: { transfer: id, state, execution } })
  if (kind === 'cancel') await cancelTransfer(client, id, order)
  else if (kind === 'expedite') await expediteTransfer(client, id, order)
  else if (execution === 'RUNNING') {
    await retryTransfer(client, id, order)
    return 'woken'
  } else {
    await startTransferAgain(client, id, order)
    return 'started again'
  }
  return 'asked'
}

export interface Selection {
  readonly transfers: readonly TransferRow[]
  /** Order these first, and select again. */
  readonly more: boolean
}

/** A server takes some hundred signals per second. */
const atOnce = 8

/** Only those on which the order has an effect. Throws INPUT_INVALID, TEMPORAL_UNAVAILABLE. */
export async function selectTransfers(
  client: TemporalClient,
  kind: TransferOrder,
  filter: TransferFilter,
  most: number,
): Promise<Selection> {
  const namesClosed = filter.execution !== undefined || (filter.states ?? []).some(isOutcome)
  const wanted: TransferFilter = kind === 'retry' && namesClosed ? filter : { ...filter, execution: 'open' }
  const found = new Map<string, TransferRow>()
  let cursor: string | undefined
  do {
    const page = await listTransferPage(client, wanted, { limit: Math.min(1_000, most + 1), cursor })
    for (const row of page.transfers) if (whyNot(kind, row) === undefined && !found.has(row.id)) found.set(row.id, row)
    cursor = page.next
  } while (cursor !== undefined && found.size <= most)
  return { transfers: [...found.values()].slice(0, most), more: found.size > most }
}

export type ManyResult = { readonly id: string; readonly result: OrderResult } | { readonly id: string; readonly error: RelayerError }

/** One failure does not stop the others. Throws TEMPORAL_PERMISSION and TEMPORAL_UNAVAILABLE: all would fail. */
export async function orderTransfers(
  client: TemporalClient,
  transfers: readonly TransferRow[],
  kind: TransferOrder,
  order: Order,
): Promise<ManyResult[]> {
  const results: ManyResult[] = []
  for (let at = 0; at < transfers.length; at += atOnce) {
    const some = transfers.slice(at, at + atOnce).map(async (one): Promise<ManyResult> => {
      try {
        return { id: one.id, result: await orderTransfer(client, one, kind, order) }
      } catch (error) {
        if (isForAll(error)) throw error
        return { id: one.id, error: toRelayerError(error) }
      }
    })
    results.push(...(await Promise.all(some)))
  }
  return results
}
