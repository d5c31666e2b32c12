import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import { isOutcome } from '../../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../connection/client.ts'
import { isForAll } from '../connection/errors.ts'
import { listTransferPage, type TransferFilter, type TransferRow } from './transfer-list.ts'
import { cancelTransfer, expediteTransfer, retryTransfer, startTransferAgain } from './transfers.ts'

/** What people order of a transfer. */
export const transferOrders = ['retry', 'cancel', 'expedite'] as const
export type TransferOrder = (typeof transferOrders)[number]

/** What became of an order: a signal has no answer, so that most are asked. */
export type OrderResult = 'woken' | 'started again' | 'asked'

/** A transfer as far as orders need to know it. */
export type Orderable = Pick<TransferRow, 'id' | 'state' | 'execution'>

/** Why an order would do nothing to this transfer; undefined: it may. */
export function whyNot(kind: TransferOrder, { state, execution }: Orderable): string | undefined {
  const isOpen = execution === 'RUNNING'
  if (kind !== 'retry') return isOpen ? undefined : 'This transfer is closed already.'
  return state === 'delivered' ? 'This transfer is delivered: there is nothing to retry.' : undefined
}

/**
 * Gives an order to one transfer. `retry` wakes one that runs, and starts one again that is closed and not delivered.
 * Throws INPUT_INVALID (it would do nothing; no name or reason), TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE.
 */
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

/** What an order would be given to. */
export interface Selection {
  readonly transfers: readonly TransferRow[]
  /** More match: order these first, and select again. */
  readonly more: boolean
}

/** Runs of one order at a time: a server takes some hundred signals per second. */
const atOnce = 8

/**
 * The transfers that match a filter and to which the order would do something, at most so many. An order to stop or to
 * hasten is for those that run; a retry too, unless the filter names an outcome or `undone`. Throws INPUT_INVALID,
 * TEMPORAL_UNAVAILABLE.
 */
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

/** What became of one of many. */
export type ManyResult = { readonly id: string; readonly result: OrderResult } | { readonly id: string; readonly error: RelayerError }

/**
 * Gives an order to many transfers; one that fails does not keep it from the others. Throws where none would go on:
 * TEMPORAL_PERMISSION, TEMPORAL_UNAVAILABLE.
 */
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
