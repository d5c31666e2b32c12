import type { GivenOrder } from '../../domain/order.ts'
import type { SettingsChange } from '../../domain/settings/settings.ts'
import { operatorTransactionStatusQuery, type OperatorTransactionStatus } from '../contracts/operator-transaction.ts'
import { statusQuery, type TransferStatus } from '../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from './client.ts'
import { fromTemporal, isGone } from './errors.ts'
import { readLane, runningLanes } from './lanes.ts'
import { readSettings } from './settings.ts'
import { listStreamNames, queryStream } from './streams.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** What keeps orders: the newest of what was ordered of it. */
export interface KeptOrders {
  readonly subject: 'settings' | 'lane' | 'stream' | 'transfer' | 'operator transaction'
  /** Of the lane, the stream or the workflow; of the settings `settings`. */
  readonly id: string
  /** The oldest first. */
  readonly orders: readonly (GivenOrder & Partial<Pick<SettingsChange, 'order'>>)[]
  /** Older ones may have been dropped. */
  readonly isFull: boolean
}

/** As domain/order.ts keeps them, and domain/settings. */
const [kept, keptSettings] = [32, 200] as const
const timeoutMs = 10_000
/** Workflows that are asked at a time. */
const atOnce = 8

/**
 * The orders that lanes, streams and settings keep, those of transfers that run, and operators' transactions that run or closed since then (ms since the epoch).
 * Throws LANE_UNREACHABLE, STREAM_UNREACHABLE, SETTINGS_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE and the like.
 */
export async function readKeptOrders(client: TemporalClient, since: number): Promise<KeptOrders[]> {
  const { audit } = await readSettings(client)
  const settings = audit.map(({ by, reason, at, order }) => ({ kind: order.kind, by, reason, at, order }))
  const found: KeptOrders[] = [{ subject: 'settings', id: 'settings', orders: settings, isFull: audit.length >= keptSettings }]
  for (const lane of await runningLanes(client)) found.push(keptBy('lane', lane, (await readLane(client, lane)).orders))
  for (const stream of await listStreamNames(client).catch(rethrow)) {
    const state = await queryStream(client, stream)
    if (state) found.push(keptBy('stream', stream, state.orders))
  }
  return [...found, ...(await ofTransfers(client)), ...(await ofOperators(client, since))]
}

function keptBy(subject: 'lane' | 'stream' | 'transfer', id: string, orders: readonly GivenOrder[] = []): KeptOrders {
  return { subject, id, orders, isFull: orders.length >= kept }
}

/** Of those that run: the others are in the archive of transfers. */
async function ofTransfers(client: TemporalClient): Promise<KeptOrders[]> {
  const ask = (id: string, runId: string): Promise<TransferStatus> => client.workflow.getHandle(id, runId).query(statusQuery)
  const found = await each(client, transfersWith({}, running), ask)
  return found.flatMap(({ id, status: { orders } }) => (orders && orders.length > 0 ? [keptBy('transfer', id, orders)] : []))
}

async function ofOperators(client: TemporalClient, since: number): Promise<KeptOrders[]> {
  const ended = `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`
  const found = await each(client, `WorkflowType = 'operatorTransaction' AND (${running} OR (${ended}))`, (id, runId, isOver) => {
    const handle = client.workflow.getHandle(id, runId, { followRuns: false })
    return isOver ? (handle.result() as Promise<OperatorTransactionStatus>) : handle.query(operatorTransactionStatusQuery)
  })
  return found.map(({ id, startedAt, status: { by, reason, lane, intent, cancelledBy, orderedAt: at = startedAt } }) => {
    const facts = { lane, to: intent.to, valueWei: intent.value, data: intent.data }
    const cancel = cancelledBy ? [{ kind: 'cancel', ...cancelledBy, at }] : []
    return { subject: 'operator transaction', id, orders: [{ kind: 'send', by, reason, at, facts }, ...cancel], isFull: false }
  })
}

/** What each run says; without those that ended while they were asked. */
async function each<Status>(client: TemporalClient, query: string, ask: (id: string, runId: string, isOver: boolean) => Promise<Status>) {
  const runs = await within(client, timeoutMs, () => listWorkflows(client, query)).catch(rethrow)
  const found: { id: string; startedAt: number; status: Status }[] = []
  for (let at = 0; at < runs.length; at += atOnce) {
    const asked = runs.slice(at, at + atOnce).map(async ({ workflowId: id, runId, status: { name }, startTime }) => {
      const status = await within(client, timeoutMs, () => ask(id, runId, name === 'COMPLETED')).catch((error: unknown) => {
        if (isGone(error)) return undefined
        throw fromTemporal(error, {}, { id })
      })
      return status ? [{ id, startedAt: startTime.getTime(), status }] : []
    })
    found.push(...(await Promise.all(asked)).flat())
  }
  return found
}

function rethrow(error: unknown): never {
  throw fromTemporal(error, {})
}
