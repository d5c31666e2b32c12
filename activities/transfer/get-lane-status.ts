import { RelayerError } from '../../domain/errors.ts'
import type { LaneStatusAnswer, LaneStatusInput } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'

/** Does a lane take work, and does another? Asked for a transfer that holds a nonce of it or waits in its queue. Throws TARGET_CHAIN_UNSUPPORTED. */
export function createGetLaneStatus(deps: Pick<StepDeps, 'lanes' | 'abandonAfterMs'>) {
  return async function getLaneStatus({ chain, lane }: LaneStatusInput): Promise<LaneStatusAnswer> {
    const directory = deps.lanes.get(chain)
    if (!directory) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain } })
    const others = (await directory.statuses()).filter((one) => one.open && one.lane !== lane).length
    const { abandonAfterMs } = deps
    // Its queue may still have a worker of an older config; that one tells of itself by going on.
    if (!directory.lanes.includes(lane)) {
      return { lane: { lane, open: false, why: 'unserved', detail: 'the config has no such lane' }, others, abandonAfterMs }
    }
    return { lane: await directory.status(lane), others, abandonAfterMs }
  }
}
