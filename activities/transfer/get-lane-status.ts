import type { KeylessSteps } from '../../temporal/contracts/transfer-steps.ts'
import { lanesOf, type StepDeps } from '../deps.ts'

/** Does a lane take work, and does another? Asked for a transfer that holds a nonce of it or waits in its queue. Throws TARGET_CHAIN_UNSUPPORTED. */
export function createGetLaneStatus(deps: Pick<StepDeps, 'lanes' | 'abandonAfterMs'>): KeylessSteps['getLaneStatus'] {
  return async ({ chain, lane }) => {
    const lanes = lanesOf(deps, { targetChain: chain })
    const others = (await lanes.statuses()).filter((one) => one.open && one.lane !== lane).length
    const unserved = { lane, open: false, why: 'unserved', detail: 'the config has no such lane' } as const
    // A worker with an older config may still serve its queue: then the broadcast itself goes on.
    return { lane: lanes.lanes.includes(lane) ? await lanes.status(lane) : unserved, others, abandonAfterMs: deps.abandonAfterMs }
  }
}
