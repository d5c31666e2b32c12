import type { Reserve } from '../../bridges/gates/with-reservation.ts'
import type { Gate } from '../../bridges/port.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { fnv1a } from '../../domain/hash.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneStatusCache } from '../../lanes/ledger/lane-status-cache.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, lanesOf, type StepDeps } from '../deps.ts'

/** Wait where no lane takes work, ms: a status is a few seconds old, and a resumed lane is to be found soon. */
const laneWaitMs = 5_000

type Deps = Pick<StepDeps, 'bridges' | 'gates' | 'laneWaiters'> & {
  readonly lanes: ReadonlyMap<ChainName, Pick<LaneStatusCache, 'open' | 'statuses'>>
}

/** A lane that takes work and may deliver this transfer, or the closed gate that it waits for, or no lane takes work. */
export type Choice =
  | { readonly kind: 'lane'; readonly lane: LaneId }
  | { readonly kind: 'closed'; readonly gate: Exclude<Gate, { kind: 'open' }> }
  | { readonly kind: 'none' }

/** The lane by rendezvous hash among those that take work and may deliver it; lanes that it just left come last. Throws what reads of the gate throw. */
export async function chooseLane(deps: Deps, { transfer, avoid = [] }: AdmitInput, reserve: Reserve): Promise<Choice> {
  const open = await lanesOf(deps, transfer).open()
  let fresh = open.filter((lane) => !avoid.includes(lane))
  let unauthorized: Extract<Gate, { kind: 'lane' }> | undefined
  for (let lane = preferredLane(transferId(transfer), fresh); lane !== undefined; lane = preferredLane(transferId(transfer), fresh)) {
    const gate = await reserve(laneAddress(lane))
    if (gate.kind === 'open') return { kind: 'lane', lane }
    if (gate.kind !== 'lane') return { kind: 'closed', gate }
    deps.gates?.unauthorized(lane)
    unauthorized = gate
    fresh = fresh.filter((other) => other !== lane)
  }
  const left = open.find((lane) => avoid.includes(lane))
  if (left === undefined) return unauthorizedGate(deps, transfer, unauthorized)
  // The gate may be why the lane gave no nonce: then the transfer waits for the gate.
  const gate = await reserve(laneAddress(left))
  return gate.kind === 'open' || gate.kind === 'lane' ? { kind: 'none' } : { kind: 'closed', gate }
}

/** If every lane lacks only a role, the transfer waits for its grant; else any lane may open at any time. */
async function unauthorizedGate(
  deps: Deps,
  transfer: Transfer,
  unauthorized: Extract<Gate, { kind: 'lane' }> | undefined,
): Promise<Choice> {
  const statuses = await lanesOf(deps, transfer).statuses()
  const paused = statuses.filter(({ pause }) => pause === 'unauthorized')
  for (const { lane } of paused) deps.gates?.unauthorized(lane)
  const [first] = paused
  const closed = unauthorized ?? (first && ({ kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: first.detail ?? '' } as const))
  const otherwise = statuses.some((one) => !one.open && !paused.includes(one))
  return closed && !otherwise && endpointOf(deps, transfer).reserve ? { kind: 'closed', gate: closed } : { kind: 'none' }
}

/** Waits; the reason names why each lane takes no work. */
export async function noLane(deps: Deps, transfer: Transfer): Promise<Stopped> {
  const lanes = lanesOf(deps, transfer)
  // One that has just left an open lane would be woken at once, and find as little.
  if ((await lanes.open()).length === 0) deps.laneWaiters?.add(transferId(transfer))
  const statuses = await lanes.statuses()
  const closed = statuses.flatMap(({ lane, why, detail }) => (why ? [`${lane} ${why}: ${detail ?? ''}`] : []))
  const reason = [`no other lane of ${transfer.targetChain} takes work now`, ...closed].join('; ')
  return { kind: 'waiting', code: 'LANE_NONE', reason, retryInMs: laneWaitMs }
}

/** Rendezvous hash: every process picks the same lane for a key, and when a candidate leaves, only its own keys move. */
function preferredLane(key: string, candidates: readonly LaneId[]): LaneId | undefined {
  const weighed = candidates.map((candidate) => ({ candidate, weight: fnv1a(`${candidate}|${key}`) }))
  return weighed.sort((a, b) => b.weight - a.weight || (a.candidate < b.candidate ? -1 : 1))[0]?.candidate
}
