import { RelayerError } from '../domain/errors.ts'
import { applyUpdate } from '../temporal/messages.ts'
import { laneWorkflowId } from '../temporal/names.ts'
import type { WithdrawInput, Withdrawal } from '../temporal/steps.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** Asks the ledger to let an intent go. A lane that does not exist holds nothing. Throws LANE_UNREACHABLE. */
export function createWithdraw({ client }: { client: Client }) {
  return async function withdraw({ lane, intentId, how }: WithdrawInput): Promise<Withdrawal> {
    try {
      const handle = client.workflow.getHandle(laneWorkflowId(lane))
      const { answers } = await handle.executeUpdate(applyUpdate, {
        args: [{ requests: [{ kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }] }],
      })
      const [answer] = answers
      return answer?.kind === 'held' ? { kind: 'held', nonce: answer.nonce } : { kind: 'free' }
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}
