import type { Command } from 'commander'
import { aboutLane, resolveLane } from '../config/lane-names.ts'
import type { Config } from '../config/schema.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { type LedgerOrder, orderOfLane } from '../temporal/client/lanes.ts'
import type { Call, Outcome } from './command.ts'
import { type Reasoned, withReason } from './options.ts'
import { order } from './orders.ts'

/** The options of every command about one lane. */
export type LaneOptions = { readonly chain?: string }

export function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…), or the address of a configured lane')
    .option('--chain <name>', 'the chain, where several have this address')
}

/** The argument and the options of every order to one lane. */
export function laneOrder(command: Command): Command {
  return withReason(laneArgument(command))
}

/** Runs `use` with the lane that the command is about. Throws LANE_NOT_FOUND, and what `use` throws. */
export function withLane<Result>(
  { withTemporal, options }: Call<LaneOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config) => Promise<Result>,
): Promise<Result> {
  return withTemporal((client, config) => use(resolveLane(config, name, options.chain), client, config))
}

/** Gives an order to the ledger of a lane, which answers. Throws INPUT_INVALID, LANE_NOT_FOUND, ACCESS_*, TEMPORAL_UNAVAILABLE. */
export function sendToLane(call: Call<LaneOptions & Reasoned>, name: string, done: string, request: LedgerOrder): Promise<Outcome> {
  return order(call, { done }, async (client, config, allow) => {
    const lane = resolveLane(config, name, call.options.chain)
    const laneView = await orderOfLane(client, lane, request, allow(aboutLane(config, lane)))
    return { result: 'done', json: { lane, done: true, view: laneView }, about: { lane, 'in flight': laneView.inFlight } }
  })
}
