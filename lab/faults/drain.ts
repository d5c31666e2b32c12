import { WorkflowNotFoundError } from '@temporalio/client'
import type { LaneState } from '../../domain/lane/lane.ts'
import { laneId } from '../../domain/lane/lane-id.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { Seen } from '../demo/follow.ts'
import { unprovedStreams } from '../demo/streams.ts'
import { byBridge, keyOf, type AnySent } from '../devnet/sent.ts'
import { isDone, newestRuns } from './newest-runs.ts'
import type { Scene } from './fault-targets.ts'

const lookEveryMs = 1000

/** What has not come to an end. */
export interface Remains {
  /** Workflow ids, or keys of transfers without a workflow, with the state that each was last seen in. */
  readonly transfers: readonly string[]
  /** Lanes that wait for a nonce to be mined, or whose ledger does not answer. */
  readonly lanes: readonly string[]
  /** Streams that have not proved all that was sent. */
  readonly streams: readonly string[]
}

/** Waits until nothing is left, or for `patienceMs` not less was left than before. */
export async function drain(scene: Scene, patienceMs: number): Promise<Remains> {
  let least = Infinity
  let movedAt = Date.now()
  for (;;) {
    const remains = await look(scene)
    const left = remains.transfers.length + remains.lanes.length + remains.streams.length
    if (left === 0) return remains
    if (left < least) {
      least = left
      movedAt = Date.now()
      scene.say(`left: ${remains.transfers.length} transfers, ${remains.lanes.length} lanes, ${remains.streams.length} streams`)
    }
    if (Date.now() - movedAt > patienceMs) return remains
    await scene.wait(lookEveryMs)
  }
}

async function look(scene: Scene): Promise<Remains> {
  const [seen, lanes, streams] = await Promise.all([
    newestRuns(scene.client),
    Promise.all(scene.devnet.lanes.map((lane) => laneRemains(scene, lane))),
    unprovedStreams(scene),
  ])
  const undone = scene.sent.filter((one) => !isDelivered(seen.get(keyOf(one))))
  const running = undone.some((one) => seen.get(keyOf(one))?.running)
  const left = running || lanes.flat().length > 0 ? undone : await withoutEffect(scene, undone)
  return { transfers: left.map((one) => describe(keyOf(one), seen.get(keyOf(one)))), lanes: lanes.flat(), streams }
}

function isDelivered(seen: Seen | undefined): boolean {
  return seen !== undefined && isDone(seen) && seen.state === 'delivered'
}

/** What no workflow carries any more, since Temporal was wiped or it was terminated, is over if the chain shows its effect: the judge's word. */
async function withoutEffect({ devnet }: Scene, undone: readonly AnySent[]): Promise<AnySent[]> {
  if (undone.length === 0) return []
  const { findings, nativeFindings } = await devnet.check(...byBridge(undone))
  const effects = new Set(
    [...findings, ...nativeFindings].flatMap(({ transfer, txHashes }) => (txHashes.length > 0 ? [keyOf(transfer)] : [])),
  )
  return undone.filter((one) => !effects.has(keyOf(one)))
}

function describe(key: string, seen: Seen | undefined): string {
  if (!seen) return `${key}: no workflow`
  return `${seen.id}: ${seen.running ? seen.state : `closed as ${seen.state}`}`
}

async function laneRemains(scene: Scene, { chain, address }: { chain: string; address: string }): Promise<string[]> {
  const { chainId } = scene.devnet.chains[chain as 'ethereum' | 'bsc'].anvil
  const id = laneWorkflowId(laneId('evm', chainId, address))
  try {
    const state = await askLane(scene, id)
    const open = Object.keys(state.entries).filter((nonce) => Number(nonce) >= (state.observed?.latest ?? 0))
    return open.length === 0 ? [] : [`${id}: unmined ${open.join(', ')}`]
  } catch (error) {
    // Nobody has asked for it since Temporal was wiped. The judge looks into the pool.
    if (error instanceof WorkflowNotFoundError) return []
    return [`${id}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** The ledger of a lane, as it tells itself. */
export function askLane({ client }: Scene, workflowId: string): Promise<LaneState> {
  return client.workflow.getHandle(workflowId).query(laneStatusQuery)
}
