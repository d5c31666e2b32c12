import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import { isOutcome } from '../../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../connection/client.ts'
import { isForAll, rethrowAs } from '../connection/errors.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { cancelSignal, expediteSignal, retrySignal } from '../../contracts/transfer.ts'
import { checkedOrder } from '../calls/workflow-calls.ts'
import { restartTransfer } from './start-transfer.ts'
import { listTransfers, type TransferFilter, type TransferRow } from './transfer-list.ts'

const signals = { retry: retrySignal, cancel: cancelSignal, expedite: expediteSignal } as const
export type TransferOrder = keyof typeof signals
export const transferOrders = ['retry', 'cancel', 'expedite'] as const satisfies readonly TransferOrder[]

/** `asked`: the order went out as a signal, which has no answer. */
type OrderResult = 'woken' | 'started again' | 'asked'
type Orderable = Pick<TransferRow, 'id' | 'state' | 'execution'>

function whyNot(kind: TransferOrder, { state, execution }: Orderable): string | undefined {
  const isOpen = execution === 'RUNNING'
  if (kind !== 'retry') return isOpen ? undefined : 'This transfer is closed already.'
  return state === 'delivered' ? 'This transfer is delivered: there is nothing to retry.' : undefined
}

/** `retry` also restarts closed transfers. Throws INPUT_INVALID, TRANSFER_NOT_FOUND and TEMPORAL_UNAVAILABLE. */
export async function orderTransfer(client: TemporalClient, transfer: Orderable, kind: TransferOrder, order: Order): Promise<OrderResult> {
  const { id, state, execution } = transfer
  const detail = whyNot(kind, transfer)
  if (detail !== undefined) throw new RelayerError('INPUT_INVALID', { detail, facts: { transfer: id, state, execution } })
  const given = checkedOrder(order)
  const isOpen = execution === 'RUNNING'
  const ordered = isOpen
    ? client.workflow.getHandle(id).signal(signals[kind], { order: given })
    : restartTransfer(client, id, { order: { kind: 'retry', ...given, at: Date.now() } })
  await ordered.catch(rethrowAs({ gone: 'TRANSFER_NOT_FOUND' }, { transfer: id }))
  if (!isOpen) return 'started again'
  return kind === 'retry' ? 'woken' : 'asked'
}

export type Selection = Awaited<ReturnType<typeof selectTransfers>>

const atOnce = 8

export async function selectTransfers(client: TemporalClient, kind: TransferOrder, filter: TransferFilter, most: number) {
  const namesClosed = filter.execution !== undefined || (filter.states ?? []).some(isOutcome)
  const wanted: TransferFilter = kind === 'retry' && namesClosed ? filter : { ...filter, execution: 'open' }
  const hasEffect = (row: TransferRow) => whyNot(kind, row) === undefined
  const found = await listTransfers(client, { ...wanted, limit: most + 1 }, hasEffect)
  return { transfers: found.slice(0, most), more: found.length > most }
}

export type ManyResult = { readonly id: string; readonly result: OrderResult } | { readonly id: string; readonly error: RelayerError }

/** Gives the order to each transfer. Throws only errors that concern all transfers, such as TEMPORAL_UNAVAILABLE. */
export async function orderTransfers(
  client: TemporalClient,
  transfers: readonly TransferRow[],
  kind: TransferOrder,
  order: Order,
): Promise<ManyResult[]> {
  return mapLimited(transfers, atOnce, async (one): Promise<ManyResult> => {
    try {
      return { id: one.id, result: await orderTransfer(client, one, kind, order) }
    } catch (error) {
      if (isForAll(error)) throw error
      return { id: one.id, error: toRelayerError(error) }
    }
  })
}
