import { backoffMs } from '../../domain/backoff.ts'
import type { Confirmation } from '../../temporal/contracts/transfer-steps.ts'
import { waits } from '../policies.ts'
import type { LaneIntent } from './lane-intent.ts'
import { confirm } from './steps.ts'
import type { TransferRun } from './transfer-run.ts'

/** Step 5: waits until an effect is final or gone. `requireAgreement`: the transfer ends or parks if it is gone. */
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
    // With one of two nodes down that may last, for every transfer of the chain.
    waitMs = Math.max(result.finalInMs, backoffMs(checks, waits.firstCheckMs, waits.longestCheckMs))
  }
}
