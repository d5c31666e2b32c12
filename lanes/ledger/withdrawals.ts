import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type { ApplyRequest } from '../../domain/lane/messages.ts'
import { nonceOfBatchWith } from '../../temporal/client/transfers/batches.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { isGone } from '../../temporal/client/connection/errors.ts'
import { applyToLane } from '../../temporal/client/lanes/lanes.ts'
import type { WithdrawInput, Withdrawal } from '../../temporal/contracts/transfer-steps.ts'

/** Longest wait for a ledger's answer, ms: less than the activity has, whose slot is not to be held longer. */
const answerMs = 20_000

/** Asks a ledger to let an intent go. */
export type Withdraw = (input: WithdrawInput) => Promise<Withdrawal>

/**
 * Works without the key and without a process of the lane. A configured lane whose ledger is not there is started, so that its tombstone refuses a late
 * request of a process that still drives the intent. Throws LANE_UNREACHABLE. An intent that a batch carries is not free: the batch cannot be unsigned, and
 * only `abandon` leaves it. @param batched whether these lanes have batches at all
 */
export function createWithdrawals(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>, batched = false): Withdraw {
  return async ({ lane, intentId, how }) => {
    try {
      const config = lanes.get(lane)
      const request: ApplyRequest = { requests: [{ kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }] }
      const { answers } = await within(client, answerMs, () => applyToLane(client, lane, request, { start: config && { config } }))
      const [answer] = answers
      if (answer?.kind === 'held') return { kind: 'held', nonce: answer.nonce }
      if (!batched || how === 'abandon') return { kind: 'free' }
      const nonce = await within(client, answerMs, () => nonceOfBatchWith(client, lane, intentId))
      return nonce === undefined ? { kind: 'free' } : { kind: 'held', nonce }
    } catch (error) {
      if (isGone(error)) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}
