import { mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { Context } from '@temporalio/activity'

/**
 * Before the step, rejects a transfer whose id is not the run's id, or whose message is longer than the submitter
 * accepts. An attacker with access to Temporal can start such a run, and only a rejected run is replaced by the genuine
 * transfer.
 */
export function ofItsRun<Input extends { readonly transfer: Transfer }, Result>(step: (input: Input) => Promise<Result>) {
  return async (input: Input): Promise<Result | Stopped> => {
    const { transfer } = input
    const id = transferId(transfer)
    const run = Context.current().info.workflowExecution?.workflowId
    const isTooLong = Buffer.byteLength(transfer.message, 'base64') > mostMessageBytes
    if (run === id && !isTooLong) return step(input)
    const reason = isTooLong ? `the message is longer than ${mostMessageBytes} bytes` : `the run's id is not that of its transfer, ${id}`
    return { kind: 'rejected', code: 'MESSAGE_MISMATCH', reason }
  }
}
