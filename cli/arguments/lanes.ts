import type { Command } from 'commander'
import { lanesOf } from '../../config/chains.ts'
import { aboutLane, resolveLane, theOnlyLane } from '../../config/lane-names.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { isShort, isShortFor } from '../../domain/text/short-id.ts'
import { type LedgerOrder, orderOfLane, runningLanes } from '../../temporal/client/lanes/lanes.ts'
import type { Call, Outcome } from '../command.ts'
import { type Reasoned, withReason } from './options.ts'
import { order } from '../orders.ts'

/** The options of every command about one lane. */
export type LaneOptions = { readonly chain?: string }

export function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…), the address of a configured lane, or either as portage lane list shortens it')
    .option('--chain <name>', 'the chain, where several have this address')
}

/** The argument and the options of every order to one lane. */
export function laneOrder(command: Command): Command {
  return withReason(laneArgument(command))
}

/** As `resolveLane`; a short id also of a lane whose ledger runs, and that is not in the config. Throws LANE_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function findLane(client: TemporalClient, config: Config, name: string, chain?: string): Promise<LaneId> {
  if (!isShort(name) || !name.includes(':')) return resolveLane(config, name, chain)
  const known = [...lanesOf(config).map(({ id }) => id), ...(await runningLanes(client))]
  return theOnlyLane(
    known.filter((id) => isShortFor(name, id)),
    { lane: name, chain },
  )
}

/** Runs `use` with the lane that the command is about. Throws LANE_NOT_FOUND, and what `use` throws. */
export function withLane<Result>(
  { withTemporal, options }: Call<LaneOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config) => Promise<Result>,
): Promise<Result> {
  return withTemporal(async (client, config) => use(await findLane(client, config, name, options.chain), client, config))
}

/** Gives an order to the ledger of a lane, which answers. Throws INPUT_INVALID, LANE_NOT_FOUND, ACCESS_*, TEMPORAL_UNAVAILABLE. */
export function sendToLane(call: Call<LaneOptions & Reasoned>, name: string, done: string, request: LedgerOrder): Promise<Outcome> {
  return order(call, { done }, async (client, config, allow) => {
    const lane = await findLane(client, config, name, call.options.chain)
    const laneView = await orderOfLane(client, lane, request, allow(aboutLane(config, lane)))
    return { result: 'done', json: { lane, done: true, view: laneView }, about: { lane, 'in flight': laneView.inFlight } }
  })
}
