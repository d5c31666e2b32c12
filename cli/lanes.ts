import type { Client } from '@temporalio/client'
import type { Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneState } from '../domain/lane/lane.ts'
import type { LaneStatus } from '../domain/lane/messages.ts'
import { view } from '../domain/lane/view.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import { laneAddress, laneId } from '../domain/lane/lane-id.ts'
import { createLaneStatusCache } from '../lanes/lane-status-cache.ts'
import { laneStatusQuery } from '../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../temporal/contracts/names.ts'

/** A lane as the config and its ledger tell it. */
export interface LaneRow {
  readonly lane: LaneId
  /** Absent: not in this config, but its ledger runs. */
  readonly chain?: string
  /** `broke`: without funds; `unserved`: no worker has its key. */
  readonly status:
    | 'active'
    | 'paused'
    | 'draining'
    | 'forbidden'
    | 'broke'
    | 'chain replaced'
    | 'unserved'
    | 'syncing'
    | 'no ledger yet'
    | 'no answer'
  readonly next?: number
  readonly latest?: number
  readonly finalized?: number
  readonly inFlight?: number
  readonly window?: number
  /** wei, decimal. */
  readonly balance?: string
  /** Why it takes no work. */
  readonly reason?: string
}

const queryTimeoutMs = 5_000

/** The lane that a person means: an id, or the address of a configured lane (of the chain `chain`, if several have it). Throws LANE_NOT_FOUND. */
export function resolveLane(config: Config, name: string, chain?: string): LaneId {
  if (/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i.test(name)) return name.toLowerCase()
  const found = configuredLanes(config).filter(
    (row) => laneAddress(row.lane) === name.toLowerCase() && (chain === undefined || row.chain === chain),
  )
  if (found.length === 1) return found[0]!.lane
  const detail = found.length > 1 ? `Several chains have this lane: ${found.map((row) => row.lane).join(', ')}.` : undefined
  throw new RelayerError('LANE_NOT_FOUND', { ...(detail && { detail }), facts: { lane: name, chain } })
}

/** The lanes of the config with the state of their ledgers, and every other ledger that runs. */
export async function listLanes(client: Client, config: Config): Promise<LaneRow[]> {
  const configured = configuredLanes(config)
  const running = new Set<LaneId>()
  for await (const info of client.workflow.list({ query: "WorkflowType = 'lane' AND ExecutionStatus = 'Running'" })) {
    running.add(info.workflowId.slice(laneWorkflowId('').length))
  }
  const known = new Map(configured.map(({ lane, chain }) => [lane, chain]))
  const all = [...new Set([...known.keys(), ...running])]
  const directory = createLaneStatusCache(client, all)
  const row = async (lane: LaneId) => {
    const state = await readIfRunning(client, lane, running)
    return toRow(lane, known.get(lane), running.has(lane), state, state && (await directory.standing(lane)))
  }
  return Promise.all(all.map(row))
}

/** The ledger of a lane. Throws LANE_NOT_FOUND, LANE_UNREACHABLE. */
export async function readLane(client: Client, lane: LaneId): Promise<LaneState> {
  const handle = client.workflow.getHandle(laneWorkflowId(lane))
  try {
    await handle.describe()
  } catch (cause) {
    throw new RelayerError('LANE_NOT_FOUND', { detail: 'It has no ledger: no lane worker has served it yet.', facts: { lane }, cause })
  }
  try {
    return await client.withDeadline(Date.now() + queryTimeoutMs, () => handle.query(laneStatusQuery))
  } catch (cause) {
    throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause })
  }
}

export function toRow(
  lane: LaneId,
  chain: string | undefined,
  running: boolean,
  state: LaneState | undefined,
  standing?: LaneStatus,
): LaneRow {
  const about = { lane, ...(chain && { chain }) }
  if (!state) return { ...about, status: running ? 'no answer' : 'no ledger yet' }
  const { next, latest, finalized, inFlight, window, closed } = view(state)
  const why = closed ?? (standing?.why && { why: standing.why, detail: standing.detail ?? '' })
  return {
    ...about,
    status: why ? (words[why.why as keyof typeof words] ?? why.why) : state.synced ? 'active' : 'syncing',
    next,
    latest,
    finalized,
    inFlight,
    window,
    ...(state.observed && { balance: state.observed.balance }),
    ...(why ? { reason: why.detail } : window === 0 && { reason: shut }),
  }
}

/** An operator's `set-window 0` is no state of the ledger: without a word the lane would look as if it worked. */
const shut = 'its window is 0, and it gives no nonces before portage lane set-window'

const words = { funds: 'broke', replaced: 'chain replaced' } as const

async function readIfRunning(client: Client, lane: LaneId, running: ReadonlySet<LaneId>): Promise<LaneState | undefined> {
  if (!running.has(lane)) return undefined
  // One lane that does not answer must not hide the others; its row says so.
  return readLane(client, lane).catch(() => undefined)
}

function configuredLanes(config: Config): { lane: LaneId; chain: string }[] {
  return Object.entries(config.chains).flatMap(([chain, { family, networkId, lanes }]) =>
    lanes.map(({ address }) => ({ lane: laneId(family, networkId, address), chain })),
  )
}
