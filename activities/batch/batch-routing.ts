import type { Bridges, Endpoint } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import type { FeePolicyResolver } from '../../domain/fees/policy.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { Batcher } from '../../lanes/batch/batcher.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { restrictionOf } from '../transfer/restrictions.ts'
import { type BatchAnswer, type BatchCandidate, createBatchBuilder } from './build-batch.ts'

/** Longest wait to be taken into a batch, ms. */
export const waitForBatchMs = 30_000
/** A period of group commit is a block's time, ms, within these bounds: no candidate may give up while its batch is built. */
const shortestPeriodMs = 1_000
const longestPeriodMs = waitForBatchMs / 2
/** Longest wait for a full batch in busy times, ms: below the first heartbeat of a step, which costs the server a state transition. */
const defaultFullBatchMs = 3_500

export interface BatchRoutingDeps {
  readonly bridges: Bridges
  readonly agent: LaneAgent
  readonly batches: BatchTracker
  /** The lane's. */
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  readonly fees: FeePolicyResolver
  /** Longest wait for a full batch in busy times, ms; a block's time if that is longer. Default 3.5 s. */
  readonly fullBatchMs?: number
}

/** How transfers share calls on one lane, in one process. */
export interface BatchRouting {
  /** The batch that carries this intent already, after a crash or when its transfer comes back. Throws what the server throws. */
  find(transfer: Transfer, intentId: string): Promise<Batch | undefined>
  /** The same, if this process drives it. */
  driven(intentId: string): Batch | undefined
  /** `alone` at once where no calls are shared, or nothing else waits. Rejects with what chain, signer and server throw. */
  enqueue(candidate: BatchCandidate, options: { timeoutMs: number; signal: AbortSignal }): Promise<BatchAnswer>
}

/** How long candidates wait for others, ms, on a chain with such blocks: always less than they have (`waitForBatchMs`). */
export function batchWaits(blockTimeMs: number, fullBatchMs = defaultFullBatchMs): { periodMs: number; fullBatchMs: number } {
  const periodMs = Math.min(longestPeriodMs, Math.max(shortestPeriodMs, blockTimeMs))
  return { periodMs, fullBatchMs: Math.max(periodMs, Math.min(longestPeriodMs, fullBatchMs)) }
}

/** One batcher per group: transfers of different contracts never share a call. */
export function createBatchRouting(deps: BatchRoutingDeps): BatchRouting {
  const { agent } = deps
  const batchers = new Map<string, Batcher<BatchCandidate, BatchAnswer>>()
  const waits = batchWaits(deps.chain.blockTimeMs, deps.fullBatchMs)

  function groupOf(transfer: Transfer): { endpoint: Endpoint; key: string; most: number } | undefined {
    const endpoint = endpointOf(deps, transfer)
    const group = endpoint.batches?.groupOf(transfer)
    return group && { endpoint, key: `${transfer.bridge}/${group.key}`, most: group.most }
  }

  return {
    async find(transfer, intentId) {
      return groupOf(transfer) && deps.batches.find(intentId)
    },
    driven: (intentId) => deps.batches.driven(intentId),
    async enqueue(candidate, { timeoutMs, signal }) {
      const group = groupOf(candidate.transfer)
      const { batches: shared } = group?.endpoint ?? {}
      if (!group || !shared) return { kind: 'alone' }
      const builderDeps = {
        ...{ ...deps, shared, endpoint: group.endpoint, lane: agent.lane, counts: agent.batchCounts },
        restrictionOf: (transfer: Transfer) => restrictionOf(deps, transfer, agent.lane),
      }
      const batcher =
        batchers.get(group.key) ??
        new Batcher<BatchCandidate, BatchAnswer>({
          most: group.most,
          ...waits,
          alone: { kind: 'alone' },
          flush: createBatchBuilder(builderDeps),
        })
      batchers.set(group.key, batcher)
      return batcher.enqueue(candidate, { timeoutMs, signal, late: timedOut })
    },
  }
}

const timedOut: BatchAnswer = { kind: 'refused', why: 'window', detail: 'no batch was sent in time' }
