import { WorkflowNotFoundError } from '@temporalio/client'
import { type LaneState, laneId } from '../../domain/lane/lane.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { Seen } from '../demo/follow.ts'
import { unprovedStreams } from '../demo/streams.ts'
import { keyOf, type AnySent } from '../devnet/sent.ts'
import { isDone, newestRuns } from './newest-runs.ts'
import type { FaultTargets } from './fault-targets.ts'

type DrainTargets = Pick<FaultTargets, 'devnet' | 'client' | 'sent' | 'say' | 'wait'>

const lookEveryMs = 1000

export interface Remains {
  /**
   * Transfers that are not delivered: the workflow's id and last state, or the transfer's key if it has no workflow.
   */
  readonly transfers: readonly string[]
  /** Lanes with a nonce that is not mined yet, or whose ledger does not answer. */
  readonly lanes: readonly string[]
  readonly streams: readonly string[]
}

/**
 * Waits until no work is left, or until the amount of work has not decreased for `stuckAfterMs`. `streams`: whether
 * streams count as work.
 */
export async function drain(targets: DrainTargets, stuckAfterMs: number, { streams = true } = {}): Promise<Remains> {
  let least = Infinity
  let movedAt = Date.now()
  let remains: Remains = { transfers: [], lanes: [], streams: [] }
  const onTarget = new Set<string>()
  for (;;) {
    const seen = await look(targets, streams, onTarget).catch((error: unknown) => `Temporal does not list the transfers: ${String(error)}`)
    if (typeof seen === 'string') remains = { ...remains, transfers: [seen] }
    else {
      remains = seen
      const left = remains.transfers.length + remains.lanes.length + remains.streams.length
      if (left < least) {
        least = left
        movedAt = Date.now()
        targets.say(`left: ${remains.transfers.length} transfers, ${remains.lanes.length} lanes, ${remains.streams.length} streams`)
      }
      if (left === 0) return remains
    }
    if (Date.now() - movedAt > stuckAfterMs) return remains
    await targets.wait(lookEveryMs)
  }
}

/**
 * @param onTarget keys of transfers that the target shows. In a long run, Temporal deletes closed runs, so a transfer
 * without a run may be delivered.
 */
async function look(targets: DrainTargets, withStreams: boolean, onTarget: Set<string>): Promise<Remains> {
  const [seen, lanes, streams] = await Promise.all([
    newestRuns(targets.client),
    Promise.all(targets.devnet.lanes.map((lane) => laneRemains(targets, lane))),
    // Streams that do not answer count as unproved, so the next round reads them again.
    withStreams ? unprovedStreams(targets).catch((error: unknown) => [`streams: ${String(error)}`]) : [],
  ])
  const undone = targets.sent.filter((one) => !isDelivered(seen.get(keyOf(one))) && !onTarget.has(keyOf(one)))
  const isBusy = undone.some((one) => seen.get(keyOf(one))?.running) || lanes.flat().length > 0
  const asked = isBusy ? undone.filter((one) => !seen.has(keyOf(one))) : undone
  const absent = await withoutEffect(targets, asked)
  for (const one of asked) if (!absent.includes(one)) onTarget.add(keyOf(one))
  const left = undone.filter((one) => !onTarget.has(keyOf(one)))
  return { transfers: left.map((one) => describe(keyOf(one), seen.get(keyOf(one)))), lanes: lanes.flat(), streams }
}

function isDelivered(seen: Seen | undefined): boolean {
  return seen !== undefined && isDone(seen) && seen.state === 'delivered'
}

/**
 * Transfers without an effect on the target chain. The state of the workflows does not count, because workflows may
 * have been terminated or wiped.
 */
async function withoutEffect({ devnet }: DrainTargets, undone: readonly AnySent[]): Promise<AnySent[]> {
  if (undone.length === 0) return []
  const { findings, nativeFindings, nttFindings, executionFindings, cctpFindings } = await devnet.check(undone)
  const all = [...findings, ...nativeFindings, ...nttFindings, ...executionFindings, ...cctpFindings]
  const effects = new Set(all.flatMap(({ transfer, txHashes }) => (txHashes.length > 0 ? [keyOf(transfer)] : [])))
  return undone.filter((one) => !effects.has(keyOf(one)))
}

function describe(key: string, seen: Seen | undefined): string {
  if (!seen) return `${key}: no workflow`
  return `${seen.id}: ${seen.running ? seen.state : `closed as ${seen.state}`}`
}

async function laneRemains(targets: DrainTargets, { chain, address }: { chain: string; address: string }): Promise<string[]> {
  const { chainId } = targets.devnet.chains[chain as 'ethereum' | 'bsc'].anvil
  const id = laneWorkflowId(laneId('evm', chainId, address))
  try {
    const state = await askLane(targets, id)
    const open = Object.keys(state.entries).filter((nonce) => Number(nonce) >= (state.observed?.latest ?? 0))
    return open.length === 0 ? [] : [`${id}: unmined ${open.join(', ')}`]
  } catch (error) {
    // A lane without a ledger has not been used since a wipe. The checker finds its transactions.
    if (error instanceof WorkflowNotFoundError) return []
    return [`${id}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

export function askLane({ client }: Pick<FaultTargets, 'client'>, workflowId: string): Promise<LaneState> {
  return client.workflow.getHandle(workflowId).query(laneStatusQuery)
}
