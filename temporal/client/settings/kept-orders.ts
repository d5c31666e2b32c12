import type { LaneId } from '../../../domain/lane/lane.ts'
import { type GivenOrder, orderFacts, ordersKept } from '../../../domain/order.ts'
import { auditLength, type SettingsChange } from '../../../domain/settings/settings.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { operatorTransactionStatusQuery, type OperatorTransactionStatus } from '../../contracts/operator-transaction.ts'
import { statusQuery, type TransferStatus } from '../../contracts/transfer.ts'
import { limited } from '../connection/answer-limits.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isForAll, isGone, rethrowAs } from '../connection/errors.ts'
import { findLanes, readLane } from '../lanes/lanes.ts'
import { findNotifiers, readNotifier } from './notifiers.ts'
import { readSettings } from './settings.ts'
import { findStreams, queryStream } from '../streams/streams.ts'
import type { RunningNames } from '../visibility/runs.ts'
import { running, transfersWith } from '../transfers/transfer-queries.ts'

export const orderSubjects = ['settings', 'lane', 'stream', 'receiver', 'transfer', 'operator transaction'] as const
type Subject = (typeof orderSubjects)[number]

export interface KeptOrders {
  readonly subject: Subject
  readonly id: string
  readonly orders: readonly (GivenOrder & Partial<Pick<SettingsChange, 'order'>>)[]
  readonly isFull: boolean
  readonly unread?: true
}

const timeoutMs = 10_000
const atOnce = 8
/**
 * Maximum time (ms) to read runs that the config does not name. Anyone with access to Temporal can start many of them.
 */
const askedMs = 60_000
/** Maximum length (JSON) of the kept orders of all runs of a type. Anyone with access to Temporal can forge runs. */
const longestOrders = 8 * 1_048_576

type Kept = { readonly orders?: KeptOrders['orders'] | undefined } | undefined

/** Names in the config. */
export interface OrderedNames {
  readonly lanes: readonly LaneId[]
  readonly receivers: readonly string[]
}

/** `since`: ms since the epoch. Operator transactions that closed earlier are left out. Throws TEMPORAL_UNAVAILABLE. */
export async function readKeptOrders(
  client: TemporalClient,
  { lanes, receivers }: OrderedNames,
  since: number,
  of: readonly Subject[] = orderSubjects,
): Promise<KeptOrders[]> {
  const readers: Record<Subject, () => Promise<KeptOrders[]>> = {
    settings: () => ofEach(client, 'settings', { own: ['settings'], others: [], isCut: false }, ofSettings),
    lane: async () => ofEach(client, 'lane', await findLanes(client, lanes), readLane),
    stream: async () => ofEach(client, 'stream', await findStreams(client), queryStream),
    receiver: async () => ofEach(client, 'receiver', await findNotifiers(client, receivers), readNotifier),
    transfer: () => ofTransfers(client),
    'operator transaction': () => ofOperators(client, since),
  }
  const found: KeptOrders[] = []
  for (const subject of orderSubjects) if (of.includes(subject)) found.push(...(await readers[subject]().catch(rethrowAs({}))))
  return found
}

async function ofEach(
  client: TemporalClient,
  subject: Subject,
  { own, others, isCut }: RunningNames,
  read: (client: TemporalClient, id: string) => Promise<Kept>,
): Promise<KeptOrders[]> {
  const [ofOwn, ofOthers] = [limited(client, 'own'), limited(client, 'others')]
  const readOne = (reader: TemporalClient, id: string) =>
    // Anyone with access to Temporal can start a workflow with this id, so a forged state may throw here.
    read(reader, id)
      .then((state) => keptBy(subject, id, state))
      .catch((error: unknown) => unreadOf(subject, id, error))
  const found = await mapLimited(own, 1, (id) => readOne(ofOwn, id))
  const end = performance.now() + askedMs
  const more = await mapLimited(others, 1, async (id) => (performance.now() < end ? readOne(ofOthers, id) : unreadOf(subject, id)))
  return [...found, ...more, ...(isCut ? [unreadOf(subject, `other ${subject}s`)] : [])]
}

function unreadOf(subject: Subject, id: string, error?: unknown): KeptOrders {
  if (isForAll(error)) throw fromTemporal(error, {}, { id })
  return { subject, id, orders: [], isFull: false, unread: true }
}

function keptBy(subject: Subject, id: string, { orders = [] }: NonNullable<Kept> = {}): KeptOrders {
  return { subject, id, orders, isFull: orders.length >= (subject === 'settings' ? auditLength : ordersKept) }
}

async function ofSettings(client: TemporalClient): Promise<Kept> {
  const { audit } = await readSettings(client)
  return { orders: audit.map(({ by, reason, at, order }) => ({ kind: order.kind, by, reason, at, order })) }
}

async function ofTransfers(client: TemporalClient): Promise<KeptOrders[]> {
  const ask = (id: string, runId: string): Promise<TransferStatus> => client.workflow.getHandle(id, runId).query(statusQuery)
  const found = await ofRuns(client, 'transfer', transfersWith({}, running), ask, ({ orders }, id) =>
    keptBy('transfer', id, { orders: Array.isArray(orders) ? (orders as readonly GivenOrder[]) : [] }),
  )
  return found.filter(({ orders, unread }) => orders.length > 0 || unread)
}

async function ofOperators(client: TemporalClient, since: number): Promise<KeptOrders[]> {
  const ended = `ExecutionStatus = 'Completed' AND CloseTime >= '${new Date(since).toISOString()}'`
  const query = `WorkflowType = 'operatorTransaction' AND (${running} OR (${ended}))`
  const ask = (id: string, runId: string, isOver: boolean) => {
    const handle = client.workflow.getHandle(id, runId, { followRuns: false })
    return isOver ? (handle.result() as Promise<OperatorTransactionStatus>) : handle.query(operatorTransactionStatusQuery)
  }
  return ofRuns(client, 'operator transaction', query, ask, (status, id, startedAt) => {
    // Anyone with access to Temporal can end an operator transaction with a malformed result, so fields may be missing.
    const { by, reason, lane, intent, cancelledBy } = status
    const at = (status as Partial<typeof status>).orderedAt ?? startedAt
    const { to, value: valueWei, data }: Partial<typeof intent> = { ...intent }
    const facts = orderFacts({ lane, to, valueWei, data })
    const cancel = cancelledBy ? [{ kind: 'cancel', ...cancelledBy, at }] : []
    return { subject: 'operator transaction', id, orders: [{ kind: 'send', by, reason, at, ...facts }, ...cancel], isFull: false }
  })
}

async function ofRuns<Status extends object>(
  client: TemporalClient,
  subject: Subject,
  query: string,
  ask: (id: string, runId: string, isOver: boolean) => Promise<Status>,
  toKept: (status: Status, id: string, startedAt: number) => KeptOrders,
): Promise<KeptOrders[]> {
  const runs = await listWorkflows(client, query, { pageTimeoutMs: timeoutMs })
  const end = performance.now() + askedMs
  let left = longestOrders
  const found = await mapLimited(runs, atOnce, async ({ workflowId: id, runId, status: { name }, startTime }) => {
    try {
      const status: unknown = performance.now() < end && (await within(client, timeoutMs, () => ask(id, runId, name === 'COMPLETED')))
      if (typeof status !== 'object' || status === null) return [unreadOf(subject, id)]
      const kept = toKept(status as Status, id, startTime.getTime())
      const { length } = JSON.stringify(kept.orders)
      if (length > left) return [unreadOf(subject, id)]
      left -= length
      return [kept]
    } catch (error) {
      return isGone(error) ? [] : [unreadOf(subject, id, error)]
    }
  })
  return found.flat()
}
