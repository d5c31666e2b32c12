import { aboutLane, lanesOf, resolveLane, theOnlyLane } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { isShort, isShortFor } from '../../domain/text/short-id.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { rethrowAs } from '../../temporal/client/connection/errors.ts'
import { runningLanes } from '../../temporal/client/lanes/lanes.ts'
import { listStreamNames, nameOf } from '../../temporal/client/streams/streams.ts'
import type { OrderContext } from './spec.ts'

/**
 * Accepts the forms of `resolveLane`, and a short id of any lane, even outside the config. Throws LANE_NOT_FOUND,
 * INPUT_INVALID, TEMPORAL_UNAVAILABLE.
 */
export async function findLane(client: TemporalClient, config: Pick<Config, 'chains'>, name: string, chain?: string): Promise<LaneId> {
  if (!isShort(name) || !name.includes(':')) return resolveLane(config, name, chain)
  const configured = lanesOf(config).map(({ id }) => id)
  const known = [...configured, ...(await runningLanes(client, configured))]
  return theOnlyLane(
    known.filter((id) => isShortFor(name, id)),
    { lane: name, chain },
  )
}

/** Throws ACCESS_SCOPE and the errors of `findLane`. */
export async function laneToOrder({ client, config, chain, allow }: OrderContext, name: string) {
  const lane = await findLane(client, config, name, chain)
  return { lane, order: allow(aboutLane(config, lane)) }
}

/** Throws STREAM_NOT_FOUND if none or several have this name, short name or id, and TEMPORAL_UNAVAILABLE. */
export async function findStream(client: TemporalClient, name: string): Promise<string> {
  if (!isShort(name)) return nameOf(client, name)
  const names = await listStreamNames(client).catch(rethrowAs({}))
  const [one, ...more] = names.filter((stream) => isShortFor(name, stream))
  if (one !== undefined && more.length === 0) return one
  const detail = one === undefined ? undefined : `Several streams have this name: ${[one, ...more].join(', ')}.`
  throw new RelayerError('STREAM_NOT_FOUND', { detail, facts: { stream: name } })
}
