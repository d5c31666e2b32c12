import { RelayerError } from '../../domain/errors.ts'
import type { Standing, LaneStatusInput } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'

/** How a lane stands, for a transfer that holds a nonce of it or waits in its queue. Throws TARGET_CHAIN_UNSUPPORTED. */
export function createGetLaneStatus(deps: Pick<StepDeps, 'lanes' | 'patienceMs'>) {
  return async function standing({ chain, lane }: LaneStatusInput): Promise<Standing> {
    const directory = deps.lanes.get(chain)
    if (!directory) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain } })
    const others = (await directory.standings()).filter((one) => one.open && one.lane !== lane).length
    const { patienceMs } = deps
    // Its queue may still have a worker of an older config; that one tells of itself by going on.
    if (!directory.lanes.includes(lane)) {
      return { lane: { lane, open: false, why: 'unserved', detail: 'the config has no such lane' }, others, patienceMs }
    }
    return { lane: await directory.standing(lane), others, patienceMs }
  }
}
