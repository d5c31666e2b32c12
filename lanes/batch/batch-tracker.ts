import { gasPaid } from '../../domain/fees/fees.ts'
import type { Logger } from '../../observability/logger.ts'
import type { BatchEnd } from '../../temporal/contracts/batch.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import {
  batchEntries,
  batchMembers,
  isMember,
  queryBatch,
  startBatch,
  signalBatchCleared,
  signalBatchOver,
} from '../../temporal/client/transfers/batches.ts'
import { batchIntentId, batchPrefix } from '../../temporal/contracts/names.ts'
import type { LaneAgent } from '../agent.ts'
import { laneCall } from '../deps.ts'
import type { NonceRequest, Refused } from '../ledger/nonce-requests.ts'
import { signingRefusal } from '../transaction/attempts.ts'
import type { PendingTransaction, PendingTransactionState } from '../transaction/pending-transaction.ts'
import { problemOf } from '../../observability/severity.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { LRUCache } from 'lru-cache'
import { randomBytes } from 'node:crypto'

export interface Batch {
  readonly id: string
  readonly members: readonly string[]
  readonly pending: PendingTransaction
}

interface BatchCall extends Pick<NonceRequest, 'intent' | 'first' | 'priority' | 'source'> {
  readonly members: readonly string[]
}

type SentBatch =
  | { readonly kind: 'underway'; readonly batch: Batch }
  | Refused
  | { readonly kind: 'unfit'; readonly members: readonly string[] }

type Deps = { readonly client: TemporalClient; readonly agent: LaneAgent; readonly logger: Logger }

/** ms for which a list of batches is reused, because after a restart, many steps need the list at the same time. */
const listedMs = 1_000
const checkMs = 5_000

/**
 * Sends batches, and finds the batch of an intent. A batch is recorded before it gets a nonce, so any process can
 * continue it.
 */
export class BatchTracker {
  readonly #deps: Deps
  readonly #driven = new Map<string, Batch>()
  readonly #known = new LRUCache<string, readonly string[]>({ max: 1_000 })
  readonly #entries: () => ReturnType<typeof batchEntries>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#entries = keptRead(() => batchEntries(deps.client, deps.agent.lane), { fromStart: listedMs })
  }

  /**
   * Records a batch, gets its nonce and sends it. Right before signing, `unfit` names members that must not be in the
   * batch. If there are any, the nonce is given back.
   */
  async send(call: BatchCall, options: { timeoutMs: number; unfit: () => Promise<readonly string[]> }): Promise<SentBatch> {
    const { agent } = this.#deps
    const id = `${batchPrefix(agent.lane)}${randomBytes(6).toString('hex')}`
    await startBatch(this.#deps.client, id, { lane: agent.lane, intent: call.intent, members: [...call.members] })
    const acquired = await agent.acquire({ ...call, ...laneCall(batchIntentId(id), call.intent) }, { timeoutMs: options.timeoutMs })
    if (acquired.kind === 'refused') {
      await this.#end(id, { state: 'unsent', detail: `${acquired.why}: ${acquired.detail}` })
      return acquired
    }
    const batch = { id, members: call.members, pending: acquired.pending }
    const unfit = await this.#send(batch, () => this.#clear(batch, options.unfit))
    return unfit.length > 0 ? { kind: 'unfit', members: unfit } : { kind: 'underway', batch }
  }

  /** Finds the batch with an intent, and drives the batch from then on. Throws Temporal's errors. */
  async find(intentId: string): Promise<Batch | undefined> {
    const driven = this.driven(intentId)
    if (driven) return mayDeliver(driven.pending.state) ? driven : undefined
    for (const { id } of await this.#entries()) {
      if (this.#driven.has(id)) continue
      const members = this.#known.get(id) ?? (await batchMembers(this.#deps.client, id))
      this.#known.set(id, members)
      if (!isMember(members, intentId)) continue
      const batch = await this.#adopt(id)
      if (batch && mayDeliver(batch.pending.state)) return batch
    }
    return undefined
  }

  driven(intentId: string): Batch | undefined {
    return [...this.#driven.values()].find(({ members }) => members.includes(intentId))
  }

  async #adopt(id: string): Promise<Batch | undefined> {
    const { client, agent } = this.#deps
    const { intent, members, cleared } = await queryBatch(client, id)
    const held = await agent.find(laneCall(batchIntentId(id), intent))
    const known = this.#driven.get(id)
    if (known || held.kind === 'refused') return known
    const batch = { id, members, pending: held.pending }
    const unfit = await this.#send(batch, async () => (cleared ? [] : this.#clear(batch)))
    return unfit.length > 0 ? undefined : batch
  }

  async #clear({ id, members }: Batch, alsoUnfit?: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const { agent, client } = this.#deps
    const unfit = [...new Set([...(await agent.notFree(members)), ...((await alsoUnfit?.()) ?? [])])]
    if (unfit.length === 0) await signalBatchCleared(client, id)
    return unfit
  }

  async #send(batch: Batch, clear: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const { agent } = this.#deps
    const { members, pending } = batch
    const fresh = pending.unsigned
    try {
      const unfit = fresh ? await clear() : []
      if (unfit.length > 0) {
        await this.#giveUp(batch, `${unfit.length} of ${members.length} must not be in it`)
        return unfit
      }
      await pending.signAndSend()
      if (fresh) agent.batchCounts.signed += 1
      if (fresh) agent.batchCounts.members += members.length
    } catch (error) {
      // If an order stops the key, an earlier process may have sent the batch, so this process follows the batch.
      const isFollowed = signingRefusal(error) === 'order' && pending.grantedTo === undefined
      if (!isFollowed) {
        if (pending.unsigned) await this.#giveUp(batch, error instanceof Error ? error.message : String(error))
        else this.#drive(batch)
        throw error
      }
    }
    this.#drive(batch)
    return []
  }

  async #giveUp({ id, pending }: Batch, detail: string): Promise<void> {
    await this.#deps.agent.release(pending)
    if ((await this.#deps.agent.cancel(batchIntentId(id))) === 'free') await this.#end(id, { state: 'unsent', detail })
  }

  #drive(batch: Batch): void {
    if (this.#driven.has(batch.id)) return
    this.#driven.set(batch.id, batch)
    void this.#untilOver(batch)
  }

  async #untilOver(batch: Batch): Promise<void> {
    const { id, pending } = batch
    const { agent } = this.#deps
    while (!(await pending.until((state) => endOf(state, pending.nonce) !== undefined, checkMs))) {
      if (agent.pendingOf(batchIntentId(id)) !== pending) break
    }
    this.#driven.delete(id)
    const end = endOf(pending.state, pending.nonce)
    if (end) await this.#end(id, end)
  }

  async #end(id: string, end: BatchEnd): Promise<void> {
    const { client, logger, agent } = this.#deps
    const { ended } = agent.batchCounts
    ended.set(end.state, (ended.get(end.state) ?? 0) + 1)
    await signalBatchOver(client, id, end).catch((error: unknown) => {
      logger.debug('a batch could not be notified that it is over', { batch: id, ...problemOf(error) })
    })
  }
}

function mayDeliver(state: PendingTransactionState): boolean {
  if (state.kind === 'included') return !state.noop && state.receipt.status === 'success'
  return state.kind === 'pending'
}

function endOf(state: PendingTransactionState, nonce: number): BatchEnd | undefined {
  if (state.kind === 'spent') return { state: 'spent', detail: `nonce ${nonce} was used by a ${state.by} transaction`, nonce }
  if (state.kind === 'pending' || !state.final) return undefined
  const { receipt } = state
  const { hash: txHash, status, block } = receipt
  const detail = `transaction ${txHash} in block ${block.height}`
  return { state: status === 'success' ? 'done' : 'reverted', detail, nonce, txHash, blockHeight: block.height, gasPaid: gasPaid(receipt) }
}
