import { RelayerError } from '../domain/errors.ts'
import { applyUpdate } from '../temporal/messages.ts'
import { laneWorkflowId } from '../temporal/names.ts'
import type { WithdrawInput, Withdrawal } from '../temporal/steps.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** Asks a ledger to let an intent go. */
export type Withdraw = (input: WithdrawInput) => Promise<Withdrawal>

/** Needs no key and no process of the lane: a dead key holder never keeps a transfer. Throws LANE_UNREACHABLE. */
export function createWithdrawals(client: Client): Withdraw {
  return async ({ lane, intentId, how }) => {
    try {
      const handle = client.workflow.getHandle(laneWorkflowId(lane))
      const { answers } = await handle.executeUpdate(applyUpdate, {
        args: [{ requests: [{ kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }] }],
      })
      const [answer] = answers
      return answer?.kind === 'held' ? { kind: 'held', nonce: answer.nonce } : { kind: 'free' }
    } catch (error) {
      // A lane that does not exist holds nothing.
      if (error instanceof WorkflowNotFoundError) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}
