import type { Command } from 'commander'
import type { Config } from '../../config/schema/schema.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { findLane } from '../../operations/orders/subjects.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Call } from '../command.ts'

export type LaneOptions = { readonly chain?: string }

export function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…), the address of a configured lane, or either as portage lane list shortens it')
    .option('--chain <name>', 'the chain, where several have this address')
}

/** Throws LANE_NOT_FOUND, and what `use` throws. */
export function withLane<Result>(
  { withTemporal, options }: Call<LaneOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config) => Promise<Result>,
): Promise<Result> {
  return withTemporal(async (client, config) => use(await findLane(client, config, name, options.chain), client, config))
}
