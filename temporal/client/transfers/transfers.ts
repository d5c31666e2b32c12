import type { WorkflowExecutionInfo } from '@temporalio/client'
import { awaitsNewSignatures, RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { type Order, portageItself } from '../../../domain/order.ts'
import {
  mip61Of,
  type Mip61State,
  type BridgeName,
  type ChainName,
  type Transfer,
  type TransferState,
} from '../../../domain/transfer/transfer.ts'
import { adoptSignal, retrySignal, statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { checkedOrder } from '../calls/workflow-calls.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, ifGone, isGone, isQueryRefused, rethrowAs } from '../connection/errors.ts'
import { readableTransfer, storedTransfer } from './start-transfer.ts'
import { stateOf, type TransferRow, toRow } from './transfer-list.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** `partial`: only what the server knows. */
export type TransferReport =
  | (TransferStatus & { readonly execution: string; readonly mip61: Mip61State | undefined })
  | (TransferRow & { readonly partial: string })

/** ms. After it the report is partial. */
const queryTimeoutMs = 5_000
const serverTimeoutMs = 10_000

/** Open or closed. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function readTransfer(client: TemporalClient, id: string): Promise<TransferReport> {
  const handle = client.workflow.getHandle(id)
  let info: Omit<WorkflowExecutionInfo, 'raw'>
  try {
    info = await within(client, serverTimeoutMs, () => handle.describe())
    if (info.type !== 'transfer') throw new RelayerError('TRANSFER_NOT_FOUND', { facts: { transfer: id } })
    if (info.status.name === 'COMPLETED')
      return toReport(await within(client, serverTimeoutMs, () => handle.result() as Promise<TransferStatus>), info.status.name)
  } catch (error) {
    throw fromTemporal(error, { gone: 'TRANSFER_NOT_FOUND' }, { transfer: id })
  }
  if (info.closeTime) return { ...toRow(info), partial: 'closed without an outcome; retry starts it again' }
  try {
    return toReport(await within(client, queryTimeoutMs, () => handle.query(statusQuery)), info.status.name)
  } catch (error) {
    if (isQueryRefused(error)) throw error
    return { ...toRow(info), partial: 'no worker of the target chain answered' }
  }
}

/** Without a worker. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function describeTransfer(client: TemporalClient, id: string): Promise<TransferRow> {
  const info = await within(client, serverTimeoutMs, () => client.workflow.getHandle(id).describe()).catch(
    rethrowAs({ gone: 'TRANSFER_NOT_FOUND' }, { transfer: id }),
  )
  if (info.type !== 'transfer') throw new RelayerError('TRANSFER_NOT_FOUND', { facts: { transfer: id } })
  return toRow(info)
}

function toReport(status: TransferStatus, execution: string): TransferReport {
  const { transfer, state, code } = status
  return { ...status, execution, mip61: mip61Of({ bridge: transfer.bridge, state, code }) }
}

/** For a gate. False: it has ended. */
export async function wakeTransfer(client: TemporalClient, id: string): Promise<boolean> {
  const woken = client.workflow.getHandle(id).signal(retrySignal, { gate: true })
  return woken.then(() => true, ifGone(false))
}

/** One query, and one read of a history per transfer. */
export async function* listWaitingTransfers(client: TemporalClient, chain: ChainName, bridge: BridgeName): AsyncGenerator<Transfer> {
  const query = transfersWith({ Bridge: bridge, TargetChain: chain, TransferState: 'waiting' }, running)
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const transfer = await storedTransfer(client, workflowId, runId).catch(() => undefined)
    if (transfer) yield transfer
  }
}

/** Before it has a transaction or an outcome. */
const looking: readonly (TransferState | undefined)[] = ['admitting', 'waiting', 'parked']

/**
 * Gives a well-signed copy to a transfer that waits or is parked because its message has outdated signers. No other
 * transfer gets it, since it would wake. `isNewer` compares with the stored message, base64. Throws
 * TEMPORAL_UNAVAILABLE; the transfer may then still need the copy.
 */
export async function offerCopy(
  client: TemporalClient,
  id: string,
  { message, isNewer }: { readonly message: string; readonly isNewer: (than: string) => boolean },
  order: Order = { by: portageItself, reason: 'a copy with newer signatures was heard' },
): Promise<boolean> {
  const handle = client.workflow.getHandle(id)
  try {
    const run = await handle.describe()
    const state = stateOf(run)
    if (run.status.name !== 'RUNNING' || !looking.includes(state)) return false
    const stored = await readableTransfer(client, id, run.runId)
    if (!stored || !isNewer(stored.message)) return false
    if (state === 'parked' && !awaitsNewSignatures((await handle.query(statusQuery)).code)) return false
    await handle.signal(adoptSignal, { message, order: checkedOrder(order) })
    return true
  } catch (error) {
    if (isGone(error) || isQueryRefused(error)) return false
    throw toRelayerError(fromTemporal(error, {}, { transfer: id }))
  }
}
