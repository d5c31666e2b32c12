import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { ApplyRequest, ApplyResponse, LaneConfig } from '../domain/lane/lane.ts'
import { applyUpdate } from '../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../temporal/contracts/names.ts'
import type { WithdrawInput, Withdrawal } from '../temporal/contracts/transfer-steps.ts'
import { applyOnLedger } from './apply-on-ledger.ts'
import { nonceOfBatchWith } from './batch/records.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** Longest wait for a ledger's answer, ms: less than the activity has, whose slot is not to be held longer. */
const answerMs = 20_000

/** Asks a ledger to let an intent go. */
export type Withdraw = (input: WithdrawInput) => Promise<Withdrawal>

/**
 * Needs no key and no process of the lane: a dead key holder never keeps a transfer. A lane that is not there is started, so that its
 * tombstone refuses a zombie's late ask; one that left the config can have no zombie. Throws LANE_UNREACHABLE.
 *
 * An intent that a batch carries holds no nonce of its own and is not free all the same: the batch cannot be unsigned. Only `abandon` leaves it.
 * @param batched are there batches on these lanes at all?
 */
export function createWithdrawals(client: Client, lanes: ReadonlyMap<LaneId, LaneConfig>, batched = false): Withdraw {
  const apply = (lane: LaneId, request: ApplyRequest): Promise<ApplyResponse> => {
    const config = lanes.get(lane)
    if (config) return applyOnLedger(client, config, request)
    return client.workflow.getHandle(laneWorkflowId(lane)).executeUpdate(applyUpdate, { args: [request] })
  }
  return async ({ lane, intentId, how }) => {
    try {
      const request: ApplyRequest = { requests: [{ kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }] }
      const { answers } = await client.withDeadline(Date.now() + answerMs, () => apply(lane, request))
      const [answer] = answers
      if (answer?.kind === 'held') return { kind: 'held', nonce: answer.nonce }
      if (!batched || how === 'abandon') return { kind: 'free' }
      const nonce = await client.withDeadline(Date.now() + answerMs, () => nonceOfBatchWith(client, lane, intentId))
      return nonce === undefined ? { kind: 'free' } : { kind: 'held', nonce }
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}
