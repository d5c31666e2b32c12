import { backoffMs } from '../../domain/backoff.ts'
import type { Confirmation } from '../../temporal/contracts/transfer-steps.ts'
import { waits } from '../policies.ts'
import type { LaneBroadcast } from './lane-broadcast.ts'
import { confirm } from './steps.ts'
import type { TransferRun } from './transfer-run.ts'

/**
 * Step 5: waits until an included effect is final, or gone.
 * @param options.lane the broadcast of ours that made the effect; it is asked to let the intent go if the transfer is to end meanwhile
 * @param options.requireAgreement the transfer ends, or stops, if the effect is not there: the nodes must agree on that
 */
export async function awaitFinality(
  run: TransferRun,
  finalInMs: number,
  { lane, requireAgreement }: { lane?: LaneBroadcast; requireAgreement?: true } = {},
): Promise<Exclude<Confirmation, { kind: 'unsettled' }>> {
  let waitMs = finalInMs
  for (let looks = 0; ; looks++) {
    if (waitMs > 0) await run.pause(waitMs, looks === 0 ? 'in a block that is not final' : 'the nodes do not agree that it is final')
    if (run.ending) lane?.askToLetGo()
    const { underway } = run.progress
    const input = { transfer: run.transfer, waitMs: waits.confirmMs, landed: underway?.landed, requireAgreement, seenAt: run.seenAt }
    const result = await confirm(input, run.label)
    if (result.kind === 'delivered') return result
    if (result.kind !== 'unsettled') {
      if (underway) delete underway.landed
      return result
    }
    if (run.isDue) await run.continueAsNew()
    // Past finality the nodes do not agree: with one of two down that may last, for every transfer of the chain at once.
    waitMs = Math.max(result.finalInMs, backoffMs(looks, waits.firstLookMs, waits.longestLookMs))
  }
}
