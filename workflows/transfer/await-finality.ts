import { backoffMs } from '../../domain/backoff.ts'
import type { Confirmation } from '../../temporal/contracts/transfer-steps.ts'
import { waits } from '../policies.ts'
import type { LaneIntent } from './lane-intent.ts'
import { confirm } from './steps.ts'
import type { TransferRun } from './transfer-run.ts'

/**
 * Step 5: waits until an included effect is final, or gone.
 * @param options.lane our broadcast that made the effect. Its intent is withdrawn if the transfer is to end during the
 * wait
 * @param options.requireAgreement the transfer ends or parks if the effect is gone, so most nodes must agree on that
 */
export async function awaitFinality(
  run: TransferRun,
  finalInMs: number,
  { lane, requireAgreement }: { lane?: LaneIntent; requireAgreement?: true } = {},
): Promise<Exclude<Confirmation, { kind: 'unsettled' }>> {
  let waitMs = finalInMs
  for (let checks = 0; ; checks++) {
    if (waitMs > 0) await run.pause(waitMs, checks === 0 ? 'in a block that is not final' : 'the nodes do not agree that it is final')
    if (run.ending) lane?.startWithdrawal()
    const { underway } = run.progress
    const input = { transfer: run.transfer, waitMs: waits.confirmMs, landed: underway?.landed, requireAgreement, seenAt: run.seenAt }
    const result = await confirm(input, run.label)
    if (result.kind === 'delivered') return result
    if (result.kind !== 'unsettled') {
      if (underway) delete underway.landed
      return result
    }
    if (run.isDue) await run.continueAsNew()
    // The nodes disagree. With one of two down that may last, for every transfer of the chain.
    waitMs = Math.max(result.finalInMs, backoffMs(checks, waits.firstCheckMs, waits.longestCheckMs))
  }
}
