import type { Command } from 'commander'
import { lanesOf } from '../config/chains.ts'
import type { Config } from '../config/schema.ts'
import type { OrderSubject } from '../domain/access/access.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneState } from '../domain/lane/lane.ts'
import type { LaneStatus, LaneView } from '../domain/lane/messages.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import { view } from '../domain/lane/view.ts'
import { createLaneStatusCache } from '../lanes/lane-status-cache.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { type LedgerOrder, orderOfLane, readLane, runningLanes } from '../temporal/client/lanes.ts'
import type { Call, Outcome } from './command.ts'
import { type Reasoned, withReason } from './options.ts'
import { order } from './orders.ts'

/** A lane, as its config and its ledger describe it. */
interface LaneRow extends Partial<Pick<LaneView, 'next' | 'latest' | 'finalized' | 'inFlight' | 'window'>> {
  readonly lane: LaneId
  /** Absent: not in this config, but its ledger runs. */
  readonly chain: string | undefined
  /** active, syncing, paused, draining, forbidden, broke (without funds), chain replaced, unserved (no worker has its key), no ledger yet or no answer. */
  readonly status: string
  /** wei, decimal. */
  readonly balance?: string
  /** Why it takes no work. */
  readonly reason?: string
  /** Who ordered that, if somebody did. */
  readonly by?: string
}

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

/** The lane of a command line: by its id, or by the address of a configured lane (of the chain `chain`, if several have it). Throws LANE_NOT_FOUND. */
export function resolveLane(config: Config, name: string, chain?: string): LaneId {
  if (/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i.test(name)) return name.toLowerCase()
  const named = lanesOf(config).filter(({ lane }) => lane.address === name.toLowerCase())
  const [one, ...more] = named.filter((row) => chain === undefined || row.chain === chain)
  if (one && more.length === 0) return one.id
  const detail = one && `Several chains have this lane: ${[one, ...more].map(({ id }) => id).join(', ')}.`
  throw new RelayerError('LANE_NOT_FOUND', { detail, facts: { lane: name, chain } })
}

/** Runs `use` with the lane that the command is about. Throws LANE_NOT_FOUND, and what `use` throws. */
export function withLane<Result>(
  { withTemporal, options }: Call<LaneOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config) => Promise<Result>,
): Promise<Result> {
  return withTemporal((client, config) => use(resolveLane(config, name, options.chain), client, config))
}

/** What an order about a lane is about: the lane, and its chain if the config has it. */
export function aboutLane(config: Config, lane: LaneId): OrderSubject {
  const chain = lanesOf(config).find(({ id }) => id === lane)?.chain
  return { lane, chains: chain === undefined ? undefined : [chain] }
}

/** Gives an order to the ledger of a lane, which answers. Throws INPUT_INVALID, LANE_NOT_FOUND, ACCESS_*, TEMPORAL_UNAVAILABLE. */
export function sendToLane(call: Call<LaneOptions & Reasoned>, name: string, done: string, request: LedgerOrder): Promise<Outcome> {
  return order(call, { done }, async (client, config, allow) => {
    const lane = resolveLane(config, name, call.options.chain)
    const laneView = await orderOfLane(client, lane, request, allow(aboutLane(config, lane)))
    return { result: 'done', json: { lane, done: true, view: laneView }, about: { lane, 'in flight': laneView.inFlight } }
  })
}

/** The lanes of the config with the state of their ledgers, and every other ledger that runs. */
export async function listLanes(client: TemporalClient, config: Config): Promise<LaneRow[]> {
  const running = await runningLanes(client)
  const chains = new Map(lanesOf(config).map(({ id, chain }) => [id, chain]))
  const lanes = [...new Set([...chains.keys(), ...running])]
  const statuses = createLaneStatusCache(client, lanes)
  return Promise.all(
    lanes.map(async (lane) => {
      // A lane that does not answer must not hide the others; its row says so.
      const state = running.has(lane) ? await readLane(client, lane).catch(() => undefined) : undefined
      return toRow(lane, chains.get(lane), running.has(lane), state, state && (await statuses.status(lane)))
    }),
  )
}

/** @param status as workers see the lane: it also says whether any worker serves it */
export function toRow(lane: LaneId, chain: string | undefined, running: boolean, state?: LaneState, status?: LaneStatus): LaneRow {
  if (!state) return { lane, chain, status: running ? 'no answer' : 'no ledger yet' }
  const { next, latest, finalized, inFlight, window, closed } = view(state)
  const why = closed ?? (status?.why && { why: status.why, detail: status.detail ?? '' })
  return {
    lane,
    chain,
    status: why ? (words[why.why] ?? why.why) : state.synced ? 'active' : 'syncing',
    next,
    latest,
    finalized,
    inFlight,
    window,
    balance: state.observed?.balance,
    ...(why ? { reason: why.detail, ...(closed?.by !== undefined && { by: closed.by }) } : window === 0 && { reason: noWindow }),
  }
}

/** `set-window 0` is no state of the ledger: without a reason the lane would look as if it worked. */
const noWindow = 'its window is 0, and it gives no nonces before portage lane set-window'

const words: Readonly<Record<string, string>> = { funds: 'broke', replaced: 'chain replaced' }
