import { type GivenOrder, orderFacts } from '../../../domain/order.ts'
import type { SettingsChange } from '../../../domain/settings/settings.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { operatorTransactionStatusQuery, type OperatorTransactionStatus } from '../../contracts/operator-transaction.ts'
import { statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isForAll, isGone, rethrowAs } from '../connection/errors.ts'
import { readLane, runningLanes } from '../lanes/lanes.ts'
import { listNotifiers, readNotifier } from './notifiers.ts'
import { readSettings } from './settings.ts'
import { listStreamNames, queryStream } from '../streams/streams.ts'
import { running, transfersWith } from '../transfers/transfer-queries.ts'

export const orderSubjects = ['settings', 'lane', 'stream', 'receiver', 'transfer', 'operator transaction'] as const
type Subject = (typeof orderSubjects)[number]

export interface KeptOrders {
  readonly subject: Subject
  /** Of the lane, stream, receiver or workflow; `settings` for the settings. */
  readonly id: string
  /** The oldest first. */
  readonly orders: readonly (GivenOrder & Partial<Pick<SettingsChange, 'order'>>)[]
  /** Older ones may have been dropped. */
  readonly isFull: boolean
  /** No answer, or an unreadable one. */
  readonly unread?: true
}

/** Limits of domain/order.ts and domain/settings. */
const [kept, keptSettings] = [32, 200] as const
const timeoutMs = 10_000
const atOnce = 8
/** For transfers, and again for operator transactions, ms. Anyone who reaches Temporal can start many. */
const askedMs = 60_000

/** Operator transactions: those that run or closed since `since`, ms since the epoch. Throws TEMPORAL_UNAVAILABLE. */
export async function readKeptOrders(client: TemporalClient, since: number, of: readonly Subject[] = orderSubjects): Promise<KeptOrders[]> {
  const found: KeptOrders[] = []
  const wants = (subject: Subject) => of.includes(subject)
  if (wants('settings')) found.push(await unlessSilent('settings', 'settings', () => ofSettings(client)))
  for (const lane of wants('lane') ? await runningLanes(client) : [])
    found.push(await unlessSilent('lane', lane, async () => keptBy('lane', lane, (await readLane(client, lane)).orders)))
  for (const stream of wants('stream') ? await listStreamNames(client).catch(rethrowAs({})) : []) {
    found.push(await unlessSilent('stream', stream, async () => keptBy('stream', stream, (await queryStream(client, stream))?.orders)))
  }
  for (const receiver of wants('receiver') ? await listNotifiers(client).catch(rethrowAs({})) : []) {
    const read = async () => keptBy('receiver', receiver, (await readNotifier(client, receiver))?.orders)
    found.push(await unlessSilent('receiver', receiver, read))
  }
  if (wants('transfer')) found.push(...(await ofTransfers(client)))
  if (wants('operator transaction')) found.push(...(await ofOperators(client, since)))
  return found
}

async function ofSettings(client: TemporalClient): Promise<KeptOrders> {
  const { audit } = await readSettings(client)
  const orders = audit.map(({ by, reason, at, order }) => ({ kind: order.kind, by, reason, at, order }))
  return { subject: 'settings', id: 'settings', orders, isFull: audit.length >= keptSettings }
}

/** A silent workflow must not hide the others. */
async function unlessSilent(subject: KeptOrders['subject'], id: string, read: () => Promise<KeptOrders>): Promise<KeptOrders> {
  try {
    return await read()
  } catch (error) {
    if (isForAll(error)) throw fromTemporal(error, {}, { id })
    return unreadOf(subject, id)
  }
}

function unreadOf(subject: KeptOrders['subject'], id: string): KeptOrders {
  return { subject, id, orders: [], isFull: false, unread: true }
}

function keptBy(subject: 'lane' | 'stream' | 'receiver' | 'transfer', id: string, orders: readonly GivenOrder[] = []): KeptOrders {
  return { subject, id, orders, isFull: orders.length >= kept }
}

/** The archive has the ended ones. */
async function ofTransfers(client: TemporalClient): Promise<KeptOrders[]> {
  const ask = (id: string, runId: string): Promise<TransferStatus> => client.workflow.getHandle(id, runId).query(statusQuery)
  const { found, unread } = await each(client, transfersWith({}, running), ask)
  const answered = found.flatMap(({ id, status: { orders } }) =>
    Array.isArray(orders) && orders.length > 0 ? [keptBy('transfer', id, orders as readonly GivenOrder[])] : [],
  )
  return [...answered, ...unread.map((id) => unreadOf('transfer', id))]
}

async function ofOperators(client: TemporalClient, since: number): Promise<KeptOrders[]> {
  const ended = `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`
  const { found, unread } = await each(
    client,
    `WorkflowType = 'operatorTransaction' AND (${running} OR (${ended}))`,
    (id, runId, isOver) => {
      const handle = client.workflow.getHandle(id, runId, { followRuns: false })
      return isOver ? (handle.result() as Promise<OperatorTransactionStatus>) : handle.query(operatorTransactionStatusQuery)
    },
  )
  const answered = found.map(({ id, startedAt, status }): KeptOrders => {
    // Anyone who reaches Temporal can start a run whose result is no status.
    const { by, reason, lane, intent, cancelledBy } = status
    const at = (status as Partial<typeof status>).orderedAt ?? startedAt
    const { to, value: valueWei, data }: Partial<typeof intent> = { ...intent }
    const facts = orderFacts({ lane, to, valueWei, data })
    const cancel = cancelledBy ? [{ kind: 'cancel', ...cancelledBy, at }] : []
    return {
      subject: 'operator transaction',
      id,
      orders: [{ kind: 'send', by, reason, at, ...facts }, ...cancel],
      isFull: false,
    }
  })
  return [...answered, ...unread.map((id) => unreadOf('operator transaction', id))]
}

/** Leaves out runs that ended meanwhile. */
async function each<Status extends object>(
  client: TemporalClient,
  query: string,
  ask: (id: string, runId: string, isOver: boolean) => Promise<Status>,
) {
  const runs = await listWorkflows(client, query, { pageTimeoutMs: timeoutMs }).catch(rethrowAs({}))
  const end = Date.now() + askedMs
  const found: { id: string; startedAt: number; status: Status }[] = []
  const unread: string[] = []
  await mapLimited(runs, atOnce, async ({ workflowId: id, runId, status: { name }, startTime }) => {
    try {
      const status: unknown = Date.now() < end && (await within(client, timeoutMs, () => ask(id, runId, name === 'COMPLETED')))
      if (typeof status === 'object' && status !== null) found.push({ id, startedAt: startTime.getTime(), status: status as Status })
      else unread.push(id)
    } catch (error) {
      if (isForAll(error)) throw fromTemporal(error, {}, { id })
      if (!isGone(error)) unread.push(id)
    }
  })
  return { found, unread }
}
