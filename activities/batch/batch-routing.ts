import type { Bridges, Endpoint } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import type { FeePolicyResolver } from '../../domain/fees/policy.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { Batcher } from '../../lanes/batch/batcher.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import type { StepDeps } from '../deps.ts'
import { endpointOf } from '../deps.ts'
import { type Boarded, createBatchBuilder, type BatchCandidate } from './build-batch.ts'

/** Longest wait for company, ms. */
export const waitForBatchMs = 30_000
/** A period of group commit is a block's time, ms, no less than this, and no more: nobody is to be told that none left in time while one forms. */
const shortestPeriodMs = 1_000
const longestPeriodMs = waitForBatchMs / 2
/** Longest wait for a full batch in busy times, ms: below the first heartbeat of a step, which costs the server a state transition. */
const defaultPatienceMs = 3_500

export interface BatchRoutingDeps {
  readonly bridges: Bridges
  readonly agent: LaneAgent
  readonly batches: BatchTracker
  /** The lane's. */
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  readonly fees: FeePolicyResolver
  /** Longest wait for a full batch in busy times, ms; a block's time if that is longer. Default 3.5 s. */
  readonly patienceMs?: number
}

/** How transfers share calls on one lane, in one process. */
export interface BatchRouting {
  /** The batch that carries this intent already, after a crash or when its transfer comes back. Throws what the server throws. */
  find(transfer: Transfer, intentId: string): Promise<Batch | undefined>
  /** The same, if this process drives it. */
  driven(intentId: string): Batch | undefined
  /** `alone` at once where nothing is shared, or nobody else is there. Rejects with what chain, signer and server throw. */
  board(rider: BatchCandidate, options: { timeoutMs: number; signal: AbortSignal }): Promise<Boarded>
}

/** How long those wait who are not alone, ms, on a chain with such blocks: always less than they have (`waitForBatchMs`). */
export function paceOf(blockTimeMs: number, patienceMs = defaultPatienceMs): { periodMs: number; patienceMs: number } {
  const periodMs = Math.min(longestPeriodMs, Math.max(shortestPeriodMs, blockTimeMs))
  return { periodMs, patienceMs: Math.max(periodMs, Math.min(longestPeriodMs, patienceMs)) }
}

/** One batcher per group: transfers of different contracts never share a call. */
export function createBatchRouting(deps: BatchRoutingDeps): BatchRouting {
  const groups = new Map<string, Batcher<BatchCandidate, Boarded>>()
  const pace = paceOf(deps.chain.blockTimeMs, deps.patienceMs)

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
    async board(rider, { timeoutMs, signal }) {
      const group = groupOf(rider.transfer)
      const { batches } = group?.endpoint ?? {}
      if (!group || !batches) return { kind: 'alone' }
      const batcher =
        groups.get(group.key) ??
        new Batcher<BatchCandidate, Boarded>({
          most: group.most,
          ...pace,
          alone: { kind: 'alone' },
          depart: createBatchBuilder({ ...deps, endpoint: group.endpoint, shared: batches }),
        })
      groups.set(group.key, batcher)
      return batcher.board(rider, { timeoutMs, signal, late: lateAnswer })
    },
  }
}

const lateAnswer: Boarded = { kind: 'refused', why: 'window', detail: 'no batch left in time' }
