import type { Endpoint } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { Batcher } from '../../lanes/batch/batcher.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import { type BatchAnswer, type BatchCandidate, type BatchDeps, createBatchBuilder } from './build-batch.ts'

export const waitForBatchMs = 30_000
/** Limits of `periodMs`, ms: below `waitForBatchMs`, so that no candidate gives up while its batch is built. */
const shortestPeriodMs = 1_000
const longestPeriodMs = waitForBatchMs / 2
/** Maximum wait for a full batch, ms: shorter than the interval of heartbeats, which cost state transitions. */
const defaultFullBatchMs = 3_500

export type BatchRouting = ReturnType<typeof createBatchRouting>

export function batchWaits(blockTimeMs: number, fullBatchMs = defaultFullBatchMs): { periodMs: number; fullBatchMs: number } {
  const periodMs = Math.min(longestPeriodMs, Math.max(shortestPeriodMs, blockTimeMs))
  return { periodMs, fullBatchMs: Math.max(periodMs, Math.min(longestPeriodMs, fullBatchMs)) }
}

export function createBatchRouting(deps: BatchDeps & { readonly fullBatchMs?: number }) {
  const { agent, chain, batches } = deps
  const batchers = new Map<string, Batcher<BatchCandidate, BatchAnswer>>()

  function groupOf(endpoint: Endpoint, transfer: Transfer) {
    const { batches: shared } = endpoint
    const group = shared?.groupOf(transfer)
    return shared && group && { endpoint, shared, key: `${transfer.bridge}/${group.key}`, most: group.most }
  }

  function batcherOf({ endpoint, shared, key, most }: NonNullable<ReturnType<typeof groupOf>>) {
    const known = batchers.get(key)
    if (known) return known
    const flush = createBatchBuilder({ ...deps, shared, endpoint })
    // Candidates are checked first, because one call that the key refuses would keep a whole batch from being signed.
    const check = (candidate: BatchCandidate) => agent.checkSigning(candidate)
    const batcher = new Batcher({ most, ...batchWaits(chain.blockTimeMs, deps.fullBatchMs), alone, check, flush })
    batchers.set(key, batcher)
    return batcher
  }

  return {
    async find(endpoint: Endpoint, transfer: Transfer, intentId: string): Promise<Batch | undefined> {
      return groupOf(endpoint, transfer) && batches.find(intentId)
    },
    driven: (intentId: string) => batches.driven(intentId),
    async enqueue(candidate: BatchCandidate, endpoint: Endpoint, options: { timeoutMs: number; signal: AbortSignal }) {
      const group = groupOf(endpoint, candidate.transfer)
      return group ? batcherOf(group).enqueue(candidate, { ...options, late: timedOut }) : alone
    },
  }
}

const alone: BatchAnswer = { kind: 'alone' }
const timedOut: BatchAnswer = { kind: 'refused', why: 'window', detail: 'no batch was sent in time' }
