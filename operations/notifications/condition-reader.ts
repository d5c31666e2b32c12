import {
  type Condition,
  type ConditionSource,
  gapAgeMs,
  haltConditions,
  laneConditions,
  streamConditions,
} from '../../domain/notification/condition.ts'
import { type NotificationFilter, wantsSubject, wantsType } from '../../domain/notification/notification.ts'
import { notifierLimits } from '../../domain/notification/notifier.ts'
import { printable } from '../../domain/text/printable.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { listParked, type NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import { listStreamNames, queryStream } from '../../temporal/client/streams/streams.ts'
import { transferData } from './events.ts'

const mostParked = 1_000
const askedAtOnce = 20
const askMs = 2_000

export interface ConditionReaderOptions {
  readonly client: TemporalClient
  readonly lanes: readonly { readonly id: string; readonly chain: ChainName }[]
  readonly everyMs: number
  readonly gapAgeMs?: number | undefined
}

export type ConditionReader = ReturnType<typeof createConditionReader>

export function createConditionReader({ client, lanes, everyMs, gapAgeMs: ageMs = gapAgeMs }: ConditionReaderOptions) {
  const kept = (read: () => Promise<readonly ConditionSource[]>) => keptRead(read, { fromStart: everyMs })
  const readLanes = kept(() =>
    Promise.all(lanes.map(({ id, chain }) => readSource(`lane/${id}`, async () => laneConditions(id, chain, await readLane(client, id))))),
  )
  const readHalts = kept(async () => [await readSource('settings', async () => haltConditions(await readSettings(client)))])
  const readStreams = kept(() => readAllStreams(client, ageMs))

  return {
    /** `holding`: keys of the conditions that the receiver knows already. Never throws. */
    async read(filter: NotificationFilter, holding: Readonly<Record<string, number>>): Promise<readonly ConditionSource[]> {
      const wants = (...types: readonly Condition['type'][]) => types.some((type) => wantsType(filter, type))
      const found = await Promise.all([
        wants('lane.paused', 'lane.funds_low') ? readLanes() : [],
        wants('settings.halted') ? readHalts() : [],
        wants('stream.gap') ? readStreams() : [],
        wants('transfer.parked') ? readSource('parked', () => parkedConditions(client, filter, holding)) : [],
      ])
      return found.flat().map(({ source, conditions }) => ({
        source,
        conditions: conditions?.filter(({ type, about }) => wantsType(filter, type) && wantsSubject(filter, about)),
      }))
    },
  }
}

async function readSource(source: string, conditions: () => Promise<readonly Condition[]>): Promise<ConditionSource> {
  return { source, conditions: await conditions().catch(() => undefined) }
}

async function readAllStreams(client: TemporalClient, ageMs: number): Promise<readonly ConditionSource[]> {
  const names = await listStreamNames(client).catch(() => undefined)
  // A source without `conditions` was not read, so no condition of a stream ends.
  if (!names) return [{ source: 'stream' }]
  return Promise.all(
    names.map((name) =>
      readSource(`stream/${name}`, async () => {
        const state = await queryStream(client, name)
        return state ? streamConditions(viewStream(state), Date.now(), ageMs) : []
      }),
    ),
  )
}

/** A transfer that is parked again after a retry does not begin a second condition, because the run is the same. */
async function parkedConditions(
  client: TemporalClient,
  filter: NotificationFilter,
  holding: Readonly<Record<string, number>>,
): Promise<readonly Condition[]> {
  const parked = await listParked(client, filter, Math.min(mostParked, notifierLimits.holding))
  const keyOf = ({ runId }: NotifiedTransfer) => `parked/${runId}`
  const isKnown = (one: NotifiedTransfer) => Object.hasOwn(holding, keyOf(one))
  const fresh = parked.filter((one) => !isKnown(one)).slice(0, askedAtOnce)
  const reasons = new Map(await Promise.all(fresh.map(async (one) => [one, await reasonOf(client, one)] as const)))
  const shown = [...parked.filter(isKnown), ...fresh]
  return shown.map((one): Condition => {
    const { kind: _, id, runId: __, closedAt: ___, at: ____, ...facts } = one
    return { key: keyOf(one), type: 'transfer.parked', about: {}, data: transferData(id, { ...facts, ...reasons.get(one) }) }
  })
}

async function reasonOf(client: TemporalClient, { id, runId }: NotifiedTransfer): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    const { code, reason } = await statusOf(client, { id, runId, running: true }, askMs)
    return { code, reason: reason && printable(reason) }
  } catch {
    return {}
  }
}
