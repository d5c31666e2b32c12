import { lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId, LaneState } from '../../domain/lane/lane.ts'
import { type NotifierState, silentSince, waitingCount } from '../../domain/notification/notifier.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { limited, UnparsedAnswer } from '../../temporal/client/connection/answer-limits.ts'
import { listWorkflows, type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { countNotified } from '../../temporal/client/settings/notified-transfers.ts'
import { readNotifier } from '../../temporal/client/settings/notifiers.ts'
import { findStreams, queryStream, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import type { RunningNames } from '../../temporal/client/visibility/runs.ts'
import { notifierWorkflowId } from '../../temporal/contracts/notifier.ts'
import { laneWorkflowId, ledgerWorkflows, settingsWorkflowId } from '../../temporal/contracts/names.ts'
import { type FailingWorkflow, type LaneFacts, type StreamFacts, type ReceiverFacts, valueOf } from './facts.ts'
import { failingOf, limits, pendingWork, read } from './read.ts'

const mostAtOnce = 50

export function readLanes(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  queueOf: (lane: LaneId) => Promise<LaneFacts['queue']>,
): Promise<LaneFacts[]> {
  const reader = limited(client, 'own')
  return mapLimited(lanesOf(config), mostAtOnce, async ({ id: lane, chain }): Promise<LaneFacts> => {
    const [ledger, queue] = await Promise.all([read(limits.temporalMs + 500, () => ledgerOf(reader, lane)), queueOf(lane)])
    return { lane, chain, ledger, queue }
  })
}

function ledgerOf(client: TemporalClient, lane: LaneId): Promise<LaneState | undefined> {
  return readLane(client, lane).catch((error: unknown) => {
    if (error instanceof RelayerError && error.code === 'LANE_NOT_FOUND') return undefined
    throw unparsedOf(error) ?? error
  })
}

export function unparsedOf(error: unknown): UnparsedAnswer | undefined {
  return error instanceof RelayerError && error.cause instanceof UnparsedAnswer ? error.cause : undefined
}

/** `isCut`: some workflows outside the config were not read. */
interface Found<Facts> {
  readonly found: readonly Facts[]
  readonly isCut: boolean
}

const mostOthers = 1_000
/** In this time, `readEach` begins to read workflows outside the config. */
const othersMs = limits.temporalMs / 2

/**
 * Anyone with access to Temporal can start many workflows that do not answer. They must not hide those of the config,
 * which come first.
 */
async function readEach<Facts>(
  client: TemporalClient,
  { own, others, isCut }: RunningNames,
  /** Undefined: not read. */
  ask: (reader: TemporalClient, one: string) => Promise<readonly Facts[] | undefined>,
): Promise<Found<Facts>> {
  const [ofOwn, ofOthers] = [limited(client, 'own'), limited(client, 'others')]
  const until = performance.now() + othersMs
  const all = [...own, ...others]
  let isUnread = false
  const found = await mapLimited([...all.entries()], mostAtOnce, async ([place, one]) => {
    const isOwn = place < own.length
    const facts = isOwn || performance.now() < until ? await ask(isOwn ? ofOwn : ofOthers, one) : undefined
    isUnread ||= facts === undefined
    return facts ?? []
  })
  return { found: found.flat(), isCut: isCut || isUnread }
}

/** Throws the errors of the client. */
export async function readStreams(client: TemporalClient): Promise<Found<StreamFacts>> {
  const names = await within(client, limits.temporalMs, () => findStreams(client))
  const ask = async (reader: TemporalClient, stream: string): Promise<StreamFacts[] | undefined> => {
    const state = await read(limits.temporalMs, () => within(client, limits.temporalMs, () => queryStream(reader, stream)))
    if ('error' in state) {
      if (unparsedOf(state.error)) return undefined
      // `read` reports a time-out as INTERNAL, but here a time-out shows that no worker answered.
      const error = state.error.code === 'INTERNAL' ? new RelayerError('STREAM_UNREACHABLE', { facts: { stream } }) : state.error
      return [{ stream, state: { asOf: state.asOf, error } }]
    }
    return state.value ? [{ stream, state: { asOf: state.asOf, value: state.value } }] : []
  }
  return readEach(client, names, ask)
}

/** Throws the errors of the client. */
export async function readFailing(
  client: TemporalClient,
  { chains, notifications }: Pick<Config, 'chains' | 'notifications'>,
): Promise<Found<FailingWorkflow>> {
  const types = `(${ledgerWorkflows.map((type) => `'${type}'`).join(', ')})`
  const query = `WorkflowType IN ${types} AND ExecutionStatus = 'Running'`
  const runs = await within(client, limits.temporalMs, () => listWorkflows(client, query, { most: mostOthers }))
  const isCut = runs.length === mostOthers
  const own = [
    settingsWorkflowId,
    ...lanesOf({ chains }).map(({ id }) => laneWorkflowId(id)),
    ...(client.streamNames?.all ?? []).map((name) => workflowIdOf(client, name)),
    ...notifications.map(({ name }) => notifierWorkflowId(name)),
  ]
  const others = runs.map(({ workflowId }) => workflowId).filter((id) => !own.includes(id))
  return readEach(client, { own, others, isCut }, async (reader, workflowId) => {
    const failing = failingOf(workflowId, await pendingWork(reader, { workflowId }))
    return failing ? [failing] : []
  })
}

type Receivers = Config['notifications']

/** One call for each receiver, and two more if its notifier is silent. Never throws. */
export function readReceivers(client: TemporalClient, receivers: Receivers, queue: () => Promise<ReceiverFacts['queue']>) {
  if (receivers.length === 0) return Promise.resolve([])
  const polled = queue()
  const reader = limited(client, 'own')
  return mapLimited(receivers, mostAtOnce, async ({ name: receiver, ...filter }): Promise<ReceiverFacts> => {
    const notifier = await read(limits.temporalMs + 500, () => readNotifier(reader, receiver))
    const state = valueOf(notifier)
    const isHeld = state !== undefined && silentSince(state, Date.now()) !== undefined
    const [waiting, step] = isHeld
      ? await Promise.all([countWaiting(client, filter, state), stepOf(client, receiver)])
      : [state && waitingCount(state, 0), undefined]
    return { receiver, notifier, queue: await polled, waiting, step }
  })
}

async function countWaiting(client: TemporalClient, filter: Omit<Receivers[number], 'name'>, state: NotifierState): Promise<number> {
  const from = state.cursor.seen + 1
  return waitingCount(state, await within(client, limits.temporalMs, () => countNotified(client, filter, from)).catch(() => 0))
}

async function stepOf(client: TemporalClient, receiver: string): Promise<ReceiverFacts['step']> {
  const work = await pendingWork(client, { workflowId: notifierWorkflowId(receiver) })
  return work?.activity && { tries: work.activity.tries, failure: await work.activity.message() }
}
