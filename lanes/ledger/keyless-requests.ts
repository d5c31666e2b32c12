import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId, LaneConfig, PauseReason } from '../../domain/lane/lane.ts'
import type { LaneOrder, LaneRequest } from '../../domain/lane/messages.ts'
import { portageItself } from '../../domain/order.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { isGone } from '../../temporal/client/connection/errors.ts'
import { applyToLane } from '../../temporal/client/lanes/lanes.ts'
import { nonceOfBatchWith } from '../../temporal/client/transfers/batches.ts'
import type { WithdrawInput, Withdrawal } from '../../temporal/contracts/transfer-steps.ts'
import { randomUUID } from 'node:crypto'

/** Longest wait for a ledger to apply a request, ms. Less than an activity has. */
const withdrawalMs = 20_000
const pauseMs = 10_000

export type Withdraw = (input: WithdrawInput) => Promise<Withdrawal>

/**
 * Withdraws intents without the key. A missing ledger is started: its tombstone refuses late requests.
 * An intent in a batch is not free: only `abandon` leaves a batch. Throws LANE_UNREACHABLE.
 */
export function createWithdrawals(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>, batched = false): Withdraw {
  return async ({ lane, intentId, how }) => {
    try {
      const request: LaneRequest = { kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }
      const [answer] = await apply(client, lane, lanes.get(lane), request, withdrawalMs)
      if (answer?.kind === 'held') return { kind: 'held', nonce: answer.nonce }
      if (!batched || how === 'abandon') return { kind: 'free' }
      const nonce = await within(client, withdrawalMs, () => nonceOfBatchWith(client, lane, intentId))
      return nonce === undefined ? { kind: 'free' } : { kind: 'held', nonce }
    } catch (error) {
      if (isGone(error)) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}

/** Pauses that Portage itself orders, of lanes of the config only. Throws what the Temporal client throws. */
export function createPauses(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>) {
  async function order(lane: LaneId, request: LaneOrder): Promise<void> {
    const config = lanes.get(lane)
    if (config) await apply(client, lane, config, request, pauseMs)
  }
  return {
    pause: (lane: LaneId, pause: PauseReason) =>
      order(lane, { kind: 'pause', id: randomUUID(), pause, order: { by: portageItself, reason: pause.reason } }),
    /** Ends only a pause of that kind: an operator may have paused the lane since. */
    resume: (lane: LaneId, { kind, reason }: PauseReason) =>
      order(lane, { kind: 'resume', id: randomUUID(), only: kind, order: { by: portageItself, reason } }),
  }
}

async function apply(client: TemporalClient, lane: LaneId, config: LaneConfig | undefined, request: LaneRequest | LaneOrder, ms: number) {
  const start = config && { config }
  const { answers } = await within(client, ms, () => applyToLane(client, lane, { requests: [request] }, { start }))
  return answers
}
