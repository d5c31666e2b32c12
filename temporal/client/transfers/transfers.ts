import { awaitsNewSignatures, RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { roundOf, workflowOf } from '../../../domain/lane/lane.ts'
import { unpaged } from '../../../domain/lane/storage/pages.ts'
import { type Order, portageItself } from '../../../domain/order.ts'
import type { TransferTransaction } from '../../../domain/transfer/attempts.ts'
import { profitOf, shownContent } from '../../../domain/transfer/content.ts'
import { mip61Of, type Mip61State, type BridgeName, type ChainName, type Transfer } from '../../../domain/transfer/transfer.ts'
import { adoptSignal, wakeSignal, statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { checkedOrder } from '../calls/workflow-calls.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, ifGone, isGone, isQueryRefused, rethrowAs } from '../connection/errors.ts'
import { readLane } from '../lanes/lanes.ts'
import { readableTransfer, storedTransfer } from './start-transfer.ts'
import { contentMemo, stateOf, type TransferRow, toRow } from './transfer-list.ts'
import { running, transfersWith } from './transfer-queries.ts'

export type TransferReport =
  | (TransferStatus &
      ReturnType<typeof shownContent> & { readonly execution: string; readonly mip61: Mip61State | undefined; readonly profit?: string })
  | (TransferRow & { readonly partial: string })

const queryTimeoutMs = 5_000
const serverTimeoutMs = 10_000
const codes = { gone: 'TRANSFER_NOT_FOUND' } as const

export async function readTransfer(client: TemporalClient, id: string): Promise<TransferReport> {
  const handle = client.workflow.getHandle(id)
  const info = await describe(client, id)
  const { name } = info.status
  const content = shownContent(info.memo?.[contentMemo])
  if (name === 'COMPLETED') {
    const result = () => handle.result() as Promise<TransferStatus>
    const status = await within(client, serverTimeoutMs, result).catch(rethrowAs(codes, { transfer: id }))
    const profit = profitOf(content, status)
    return { ...toReport(status, name), ...content, ...(profit !== undefined && { profit }) }
  }
  if (info.closeTime) return { ...toRow(info), partial: 'closed without an outcome; retry starts it again' }
  try {
    return { ...toReport(await within(client, queryTimeoutMs, () => handle.query(statusQuery)), name), ...content }
  } catch (error) {
    if (isQueryRefused(error)) throw error
    return { ...toRow(info), partial: 'no worker of the target chain answered' }
  }
}

const readAtOnce = 10

/** Adds the profits of delivered paid requests, with two reads for each. Leaves out profits that cannot be read. */
export function withProfits(client: TemporalClient, rows: readonly TransferRow[]): Promise<TransferRow[]> {
  return mapLimited(rows, readAtOnce, async (row) => {
    if (row.worth === undefined || row.state !== 'delivered') return row
    const report = await readTransfer(client, row.id).catch(() => undefined)
    return { ...row, ...(report?.profit !== undefined && { profit: report.profit }) }
  })
}

/** Needs no worker. Throws TRANSFER_NOT_FOUND and TEMPORAL_UNAVAILABLE. */
export async function describeTransfer(client: TemporalClient, id: string): Promise<TransferRow> {
  return toRow(await describe(client, id))
}

async function describe(client: TemporalClient, transfer: string) {
  const ask = () => client.workflow.getHandle(transfer).describe()
  const info = await within(client, serverTimeoutMs, ask).catch(rethrowAs(codes, { transfer }))
  if (info.type !== 'transfer') throw new RelayerError('TRANSFER_NOT_FOUND', { facts: { transfer } })
  return info
}

function toReport(status: TransferStatus, execution: string): TransferReport {
  const { transfer, state, code } = status
  return { ...status, execution, mip61: mip61Of({ bridge: transfer.bridge, state, code }) }
}

/** Oldest first. Includes attempts of a pending transfer that only the ledger knows. Never throws. */
export async function transactionsOf(client: TemporalClient, status: TransferStatus): Promise<readonly TransferTransaction[]> {
  const { id, lane, state, transactions = [] } = status
  if (lane === undefined || (state !== 'broadcasting' && state !== 'pending')) return transactions
  const ledger = await readLane(client, lane).catch(() => undefined)
  const entries = ledger ? Object.values(unpaged(ledger).entries) : []
  const added = entries.flatMap(({ nonce, owner, attempts }): TransferTransaction[] => {
    if (!owner || workflowOf(owner.intentId) !== id) return []
    // The ledger appends attempts, so those that the transfer does not know come last.
    const known = transactions.filter((one) => one.lane === lane && one.nonce === nonce).length
    const round = roundOf(owner.intentId)
    return attempts.slice(known).map((one) => {
      const { kind, gasLimit, maxFee, tip } = one
      return { lane, nonce, round, kind, gasLimit, maxFee, tip, fate: 'recorded' }
    })
  })
  return [...transactions, ...added]
}

export async function wakeTransfer(client: TemporalClient, id: string): Promise<boolean> {
  const woken = client.workflow.getHandle(id).signal(wakeSignal)
  return woken.then(() => true, ifGone(false))
}

export async function* listWaitingTransfers(client: TemporalClient, chain: ChainName, bridge: BridgeName): AsyncGenerator<Transfer> {
  const query = transfersWith({ Bridge: bridge, TargetChain: chain, TransferState: 'waiting' }, running)
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const transfer = await storedTransfer(client, workflowId, runId).catch(() => undefined)
    if (transfer) yield transfer
  }
}

const looking: readonly (string | undefined)[] = ['admitting', 'waiting', 'parked']

/**
 * Offers a transfer a newer copy of its message. A copy wakes a parked transfer, so a parked transfer gets one only if
 * it awaits new signatures. `isNewer` gets the stored message, base64.
 */
export async function offerCopy(
  client: TemporalClient,
  id: string,
  { message, isNewer }: { readonly message: string; readonly isNewer: (than: string) => boolean },
  order: Order = { by: portageItself, reason: 'a copy with newer signatures was received' },
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
