import type { Reserve } from '../../bridges/gates/reservation.ts'
import type { Gate } from '../../bridges/port.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { rankLanes } from '../../domain/lane/rank-lanes.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { AdmitInput, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { endpointOf, lanesOf } from '../deps.ts'

/** Between two looks where no lane takes work, ms: what is known of lanes is a few seconds old, and one that is resumed is not to be found out late. */
const laneWaitMs = 5_000

/** A lane that takes work and may deliver this; or the gate that the transfer stands before; or no lane takes work. */
export type Choice =
  | { readonly kind: 'lane'; readonly lane: LaneId }
  | { readonly kind: 'closed'; readonly gate: Exclude<Gate, { kind: 'open' }> }
  | { readonly kind: 'none' }

/**
 * The lane that the transfer's id falls to among those that take work and may deliver it; those just left come last. Throws what reads of the
 * bridge's gate throw.
 */
export async function chooseLane(deps: StepDeps, { transfer, avoid = [] }: AdmitInput, reserve: Reserve): Promise<Choice> {
  const directory = lanesOf(deps, transfer)
  const open = await directory.open()
  const gateFor = (lane: LaneId) => reserve(laneAddress(lane))
  let fresh = open.filter((lane) => !avoid.includes(lane))
  let unauthorized: Extract<Gate, { kind: 'lane' }> | undefined
  for (let lane = rankLanes(transferId(transfer), fresh); lane !== undefined; lane = rankLanes(transferId(transfer), fresh)) {
    const gate = await gateFor(lane)
    if (gate.kind === 'open') return { kind: 'lane', lane }
    if (gate.kind !== 'lane') return { kind: 'closed', gate }
    deps.gates?.unauthorized(lane)
    unauthorized = gate
    fresh = fresh.filter((other) => other !== lane)
  }
  // What the lane that was left said may be the gate's doing: that is what the transfer waits for.
  const [left] = open.filter((lane) => avoid.includes(lane))
  const gate = left === undefined ? undefined : await gateFor(left)
  if (gate && gate.kind !== 'open' && gate.kind !== 'lane') return { kind: 'closed', gate }
  if (left !== undefined) return { kind: 'none' }
  return unauthorizedGate(deps, transfer, unauthorized)
}

/** Is a role all that is missing, of every lane? Then its grant is waited for; else any lane may open at any time. */
async function unauthorizedGate(
  deps: StepDeps,
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

/** Waits; the reason has what each lane says. */
export async function noLane(deps: StepDeps, { transfer }: AdmitInput): Promise<Stopped> {
  const statuses = await lanesOf(deps, transfer).statuses()
  const closed = statuses.flatMap(({ lane, why, detail }) => (why ? [`${lane} ${why}: ${detail ?? ''}`] : []))
  const reason = [`no other lane of ${transfer.targetChain} takes work now`, ...closed].join('; ')
  return { kind: 'waiting', code: 'LANE_NONE', reason, retryInMs: laneWaitMs }
}
