import { lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { kept } from '../../domain/lane/entries.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { type Check, type Finding, look, warn } from './check.ts'

/** Share of the limit. */
const nearLimit = 0.8

/** Nonces that ledgers keep until final. Nothing without Temporal: checkTemporal reports that. */
export async function checkLanes(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  const lanes = lanesOf(config).map(({ id }) => id)
  return withTemporalClient(temporal, (client) =>
    Promise.all(lanes.map((lane) => look('ledgers', lane, () => checkLane(client, lane)))),
  ).catch(() => [])
}

async function checkLane(client: TemporalClient, lane: LaneId): Promise<Finding> {
  const state = await readLane(client, lane).catch((error: unknown) => {
    if (error instanceof RelayerError && (error.code === 'LANE_UNREACHABLE' || error.code === 'LANE_NOT_FOUND')) return error
    throw error
  })
  // No failure: the doctor often runs before the workers.
  if (state instanceof RelayerError) {
    return state.code === 'LANE_NOT_FOUND' ? 'has not begun' : warn('exists, and does not answer', state.remedy)
  }
  const { kept: now, keptLimit } = kept(state)
  const detail = `keeps ${now} nonces until they are final, at most ${keptLimit}`
  return now < keptLimit * nearLimit
    ? detail
    : warn(
        detail,
        'Check whether finality advances (portage node list). If it is only slow, give the chain more lanes: then each keeps fewer.',
      )
}
