import type { ClosedGate } from '../../bridges/gates/gate-watcher.ts'
import type { Endpoint, Gate } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import { fnv1a } from '../../domain/hash.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, KeylessSteps, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { lanesOf } from '../route.ts'

/** Wait while no lane takes work, ms. The wait is short, so that a resumed lane is found soon. */
const laneWaitMs = 5_000
const unwatchedMs = 15_000
/** Limits of a transfer's own wait for a watched gate, ms. Normally the watcher wakes the transfer earlier. */
const leastWatchedMs = 15 * 60_000
const mostWatchedMs = 30 * 60_000
/** Minimum time from the opening of a gate to a transfer's own check, ms, so that the watcher comes first. */
const leastLateMs = 60_000

type Deps = Pick<StepDeps, 'gates' | 'openLanes'>

export interface Target {
  readonly endpoint: Endpoint
  readonly chain: Chain
  readonly lanes: Pick<LaneStatusCache, 'open' | 'statuses'>
}

export type Choice =
  | { readonly kind: 'lane'; readonly lane: LaneId }
  | { readonly kind: 'closed'; readonly gate: Exclude<Gate, { kind: 'open' }> }
  | { readonly kind: 'none' }

type CanPay = (lane: LaneId) => Promise<boolean>

/**
 * Chooses an open lane by rendezvous hash, or the terms' lane. Avoids lanes that the transfer has just left.
 * @param canPay whether a lane holds the coins of the call. Lanes that hold these coins come first. Absent: the call
 * has no coins.
 */
export async function chooseLane(
  deps: Deps,
  { transfer, avoid = [] }: AdmitInput,
  target: Omit<Target, 'chain'>,
  canPay?: CanPay,
): Promise<Choice> {
  const { endpoint, lanes } = target
  const { terms } = transfer
  const reserve = async (lane: LaneId): Promise<Gate> => (await endpoint.reserve?.(transfer, laneAddress(lane))) ?? { kind: 'open' }
  const open = (await lanes.open()).filter((lane) => lane === (terms?.lane ?? lane))
  const fresh = open.filter((lane) => !avoid.includes(lane))
  let unauthorized: Extract<Gate, { kind: 'lane' }> | undefined
  for (const lane of await payingFirst(byPreference(transferId(transfer), fresh), canPay)) {
    const gate = await reserve(lane)
    if (gate.kind === 'open') return { kind: 'lane', lane }
    if (gate.kind !== 'lane') return { kind: 'closed', gate }
    if (gate.code === 'BRIDGE_ROLE_MISSING') deps.gates?.unauthorized(lane)
    unauthorized = gate
  }
  const left = open.find((lane) => avoid.includes(lane))
  if (left === undefined) {
    const choice = await unauthorizedGate(deps, target, unauthorized)
    // The lane of the terms says nothing about the route.
    return terms?.lane === undefined ? choice : { kind: 'none' }
  }
  // Only avoided lanes are open. If they granted no nonce because of the bridge's gate, the transfer awaits the gate.
  const gate = await reserve(left)
  return gate.kind === 'open' || gate.kind === 'lane' ? { kind: 'none' } : { kind: 'closed', gate }
}

/** If a missing role at the bridge is the only reason why no lane works, the transfer waits for this role. */
async function unauthorizedGate(
  deps: Deps,
  { endpoint, lanes }: Pick<Target, 'endpoint' | 'lanes'>,
  unauthorized: Extract<Gate, { kind: 'lane' }> | undefined,
): Promise<Choice> {
  const statuses = await lanes.statuses()
  const paused = statuses.filter(({ pause }) => pause === 'unauthorized')
  for (const { lane } of paused) deps.gates?.unauthorized(lane)
  const [first] = paused
  const closed = unauthorized ?? (first && ({ kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: first.detail ?? '' } as const))
  const otherwise = statuses.some((one) => !one.open && !paused.includes(one))
  return closed && !otherwise && endpoint.reserve ? { kind: 'closed', gate: closed } : { kind: 'none' }
}

export async function noLane(deps: Deps, transfer: Transfer, lanes: Target['lanes']): Promise<Stopped> {
  // If a lane is open, the transfer has just left it. Then no watch begins, because a watch would wake the transfer
  // immediately.
  if ((await lanes.open()).length === 0) deps.openLanes?.watchFor(transferId(transfer))
  const statuses = await lanes.statuses()
  const chosen = transfer.terms?.lane
  const asked = statuses.filter(({ lane }) => lane === (chosen ?? lane))
  const closed = asked.flatMap(({ lane, why, detail }) => (why ? [`${lane} ${why}: ${detail ?? ''}`] : []))
  const none = chosen
    ? `only ${chosen} may deliver it, and this lane takes no work now`
    : `no other lane of ${transfer.targetChain} takes work now`
  const reason = [none, ...closed].join('; ')
  return { kind: 'waiting', code: chosen ? 'LANE_CHOSEN' : 'LANE_NONE', reason, retryInMs: laneWaitMs }
}

export function createGetLaneStatus(deps: Pick<StepDeps, 'lanes' | 'abandonAfterMs'>): KeylessSteps['getLaneStatus'] {
  return async ({ chain, lane }) => {
    const lanes = lanesOf(deps, { targetChain: chain })
    const others = (await lanes.statuses()).filter((one) => one.open && one.lane !== lane).length
    const unserved = { lane, open: false, why: 'unserved', detail: 'the config has no such lane' } as const
    // A lane that this config lacks counts as unserved, and the transfer leaves it only after `abandonAfterMs`, because
    // a worker with an older config may still serve it.
    return { lane: lanes.lanes.includes(lane) ? await lanes.status(lane) : unserved, others, abandonAfterMs: deps.abandonAfterMs }
  }
}

/** Rendezvous hash: every process chooses the same lane, and only a removed lane's transfers move. */
function byPreference(key: string, lanes: readonly LaneId[]): readonly LaneId[] {
  const weighed = lanes.map((lane) => ({ lane, weight: fnv1a(`${lane}|${key}`) }))
  return weighed.sort((a, b) => b.weight - a.weight || (a.lane < b.lane ? -1 : 1)).map(({ lane }) => lane)
}

async function payingFirst(lanes: readonly LaneId[], canPay: CanPay | undefined): Promise<readonly LaneId[]> {
  if (!canPay || lanes.length < 2) return lanes
  const able = await Promise.all(lanes.map(canPay))
  return [true, false].flatMap((is) => lanes.filter((_, index) => able[index] === is))
}

export function waitForGate(deps: Deps, transfer: Transfer, gate: Exclude<Gate, { kind: 'open' }>, chain: Target['chain']): Stopped {
  const { code, reason } = gate
  if (gate.kind === 'transfer') return { kind: 'impossible', code, reason }
  deps.gates?.wait(transfer, gate)
  const now = chain.heads.current?.time
  const watched = deps.gates !== undefined
  const share = Number.parseInt(transfer.digest.slice(2, 10), 16) / 2 ** 32
  return { kind: 'waiting', code, reason, retryInMs: Math.round(gateWaitMs(gate, { watched, now, share })) }
}

/** A transfer's wait for a gate, ms. `now`: the chain's time, seconds. `share` (0 to 1) spreads the checks. */
export function gateWaitMs(gate: ClosedGate, { watched, now, share }: { watched: boolean; now: number | undefined; share: number }) {
  const opensAt = gate.kind === 'route' ? gate.opensAt : undefined
  if (opensAt !== undefined && now !== undefined)
    return Math.max(0, opensAt - now) * 1_000 + leastLateMs + share * (mostWatchedMs - leastLateMs)
  return watched ? leastWatchedMs + share * (mostWatchedMs - leastWatchedMs) : unwatchedMs
}
