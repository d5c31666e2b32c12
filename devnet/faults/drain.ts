import type { LaneState } from '../../domain/lane.ts'
import { laneId } from '../../domain/lane-id.ts'
import { laneStatusQuery } from '../../temporal/messages.ts'
import { laneWorkflowId } from '../../temporal/names.ts'
import { keyOf, type Seen } from '../demo/follow.ts'
import { isDone, type CatchUp } from './catch-up.ts'
import type { Scene } from './scene.ts'

const lookEveryMs = 1000

/** What has not come to an end. */
export interface Remains {
  /** Workflow ids, or keys of transfers without a workflow, with the state that each was last seen in. */
  readonly transfers: readonly string[]
  /** Lanes that wait for a nonce to be mined, or whose ledger does not answer. */
  readonly lanes: readonly string[]
}

/** Waits until nothing is left, or for `patienceMs` not less was left than before. */
export async function drain(scene: Scene, catchUp: CatchUp, patienceMs: number): Promise<Remains> {
  let least = Infinity
  let movedAt = Date.now()
  for (;;) {
    const remains = await look(scene, catchUp)
    const left = remains.transfers.length + remains.lanes.length
    if (left === 0) return remains
    if (left < least) {
      least = left
      movedAt = Date.now()
      scene.say(`left: ${remains.transfers.length} transfers, ${remains.lanes.length} lanes`)
    }
    if (Date.now() - movedAt > patienceMs) return remains
    await scene.wait(lookEveryMs)
  }
}

async function look(scene: Scene, catchUp: CatchUp): Promise<Remains> {
  const [seen, lanes] = await Promise.all([catchUp.look(), Promise.all(scene.devnet.lanes.map((lane) => laneRemains(scene, lane)))])
  return { transfers: scene.sent.flatMap((one) => describe(keyOf(one), seen.get(keyOf(one)))), lanes: lanes.flat() }
}

function describe(key: string, seen: Seen | undefined): string[] {
  if (!seen) return [`${key}: no workflow`]
  if (isDone(seen) && seen.state === 'delivered') return []
  return [`${seen.id}: ${seen.running ? seen.state : `closed as ${seen.state}`}`]
}

async function laneRemains(scene: Scene, { chain, address }: { chain: string; address: string }): Promise<string[]> {
  const { chainId } = scene.devnet.chains[chain as 'ethereum' | 'bsc'].anvil
  const id = laneWorkflowId(laneId('evm', chainId, address))
  try {
    const state = await askLane(scene, id)
    const open = Object.keys(state.entries).filter((nonce) => Number(nonce) >= (state.observed?.latest ?? 0))
    return open.length === 0 ? [] : [`${id}: unmined ${open.join(', ')}`]
  } catch (error) {
    return [`${id}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** The ledger of a lane, as it tells itself. */
export function askLane({ client }: Scene, workflowId: string): Promise<LaneState> {
  return client.workflow.getHandle(workflowId).query(laneStatusQuery)
}
