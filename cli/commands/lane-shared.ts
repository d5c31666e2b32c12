import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { fromTemporal } from '../../api/temporal-errors.ts'
import type { Config } from '../../config/schema.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { LaneOrder, LaneRequest } from '../../domain/lane/messages.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { applyUpdate } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { Cli, ExitCode, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { resolveLane } from '../lanes.ts'
import { facts, print } from '../output.ts'
import { withClient } from '../temporal.ts'
import type { Client } from '@temporalio/client'

/** Longest wait for a ledger to carry out an order, ms. */
const orderTimeoutMs = 10_000

/** The options of every command about one lane. */
export interface LaneOptions {
  readonly chain?: string
}

export type LaneHandle = ReturnType<Client['workflow']['getHandle']>

export function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…), or the address of a configured lane')
    .option('--chain <name>', 'the chain, where several have this address')
}

/** Tells a lane by a signal: it is kept even when no worker serves the ledger at the moment. */
export function tell(
  { context }: Cli,
  globals: GlobalOptions,
  what: { name: string; chain: string | undefined; asked: string },
  send: (handle: LaneHandle) => Promise<void>,
): Promise<ExitCode> {
  return withLane({ context }, globals, what, async (lane, client) => {
    await send(client.workflow.getHandle(laneWorkflowId(lane)))
    print(context, globals, { lane, asked: what.asked }, facts({ lane, asked: what.asked }))
  })
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Orders something of a ledger by an update, whose answer says whether it is done. Throws INPUT_INVALID with what the ledger says against it. */
export function order(
  { context }: Cli,
  globals: GlobalOptions,
  what: { name: string; chain: string | undefined; ordered: string },
  request: WithoutId<LaneOrder | Extract<LaneRequest, { kind: 'fill' }>>,
): Promise<ExitCode> {
  return withLane({ context }, globals, what, async (lane, client) => {
    const handle = client.workflow.getHandle(laneWorkflowId(lane))
    const requests = [{ ...request, id: 'operator' } as LaneRequest]
    const { answers, view } = await client.withDeadline(Date.now() + orderTimeoutMs, () =>
      handle.executeUpdate(applyUpdate, { args: [{ requests }] }),
    )
    const [answer] = answers
    if (answer?.kind === 'refused') throw new RelayerError('INPUT_INVALID', { detail: answer.detail, facts: { lane } })
    print(context, globals, { lane, ordered: what.ordered, view }, facts({ lane, ordered: what.ordered, 'in flight': view.inFlight }))
  })
}

/** Runs `use` with the lane that is meant. Throws LANE_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function withLane(
  { context }: Pick<Cli, 'context'>,
  globals: GlobalOptions,
  { name, chain }: { name: string; chain: string | undefined },
  use: (lane: LaneId, client: Client, config: Config) => Promise<ExitCode | void>,
): Promise<ExitCode> {
  const config = await readConfig(context, globals)
  const lane = resolveLane(config, name, chain)
  return withClient(config, async (client) => {
    try {
      return (await use(lane, client, config)) ?? exitCodes.ok
    } catch (error) {
      throw error instanceof RelayerError ? error : fromTemporal(error, 'LANE_NOT_FOUND', { lane })
    }
  })
}

/** For commander: wei as a decimal number. */
export function wei(text: string): string {
  if (!/^[0-9]{1,78}$/.test(text)) throw new InvalidArgumentError('It must be a decimal number of wei.')
  return text
}

/** For commander: how many rows. */
export function count(text: string): number {
  if (!/^[0-9]{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number below 1000.')
  return Number(text)
}
