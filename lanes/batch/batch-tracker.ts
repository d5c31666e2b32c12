import { gasPaid } from '../../domain/fees/fees.ts'
import type { Logger } from '../../observability/logger.ts'
import type { BatchEnd } from '../../temporal/contracts/batch.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import {
  batchEntries,
  type BatchEntry,
  batchMembers,
  isMember,
  queryBatch,
  startBatch,
  tellBatchCleared,
  tellBatchOver,
} from '../../temporal/client/transfers/batches.ts'
import { batchIntentId, batchPrefix } from '../../temporal/contracts/names.ts'
import type { LaneAgent } from '../agent.ts'
import { laneCall } from '../lane-call.ts'
import type { NonceRequest, Refused } from '../ledger/nonce-requests.ts'
import type { PendingTransaction, PendingTransactionState } from '../transaction/pending-transaction.ts'
import { randomBytes } from 'node:crypto'

/** One call that delivers many transfers, with its nonce, as this process drives it. */
export interface Batch {
  /** Workflow id. */
  readonly id: string
  /** Intents of the transfers. */
  readonly members: readonly string[]
  readonly pending: PendingTransaction
}

/** A call that delivers many transfers. */
interface BatchCall extends Pick<NonceRequest, 'intent' | 'first' | 'priority' | 'source'> {
  readonly members: readonly string[]
}

type SentBatch =
  | { readonly kind: 'underway'; readonly batch: Batch }
  | Refused
  /** Not sent: these members must not be in it. Its nonce is given back. */
  | { readonly kind: 'unfit'; readonly members: readonly string[] }

type Deps = { readonly client: TemporalClient; readonly agent: LaneAgent; readonly logger: Logger }

/** Between two looks at the ledger for batches that this process does not drive, ms: many ask at once after a restart. */
const lookMs = 1_000
/** Between two checks whether this process still drives a batch, ms. */
const checkMs = 5_000

/** The batches of one lane in one process. A call is recorded in a workflow, then given a nonce, then signed: any process can make the same bytes. */
export class BatchTracker {
  readonly #deps: Deps
  readonly #driven = new Map<string, Batch>()
  /** Members of batches that other processes made, or this one before a restart. */
  readonly #known = new Map<string, readonly string[]>()
  #look: { readonly at: number; readonly entries: Promise<readonly BatchEntry[]> } | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Records the call, gets its nonce, signs and sends it. Throws what the server and the signer throw; a nonce that may be signed stays the lane's debt.
   * @param unfit asked last, right before it is signed: the members that must not be in it after all
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

  /** The batch that carries an intent and is not final, driven by this process from now on; undefined: none. Throws what the server throws. */
  async find(intentId: string): Promise<Batch | undefined> {
    const driven = this.driven(intentId)
    if (driven) return mayDeliver(driven.pending.state) ? driven : undefined
    for (const { id } of await this.#entries()) {
      if (this.#driven.has(id) || !isMember(await this.#membersOf(id), intentId)) continue
      const batch = await this.#adopt(id)
      if (batch && mayDeliver(batch.pending.state)) return batch
    }
    return undefined
  }

  /** The batch with this intent that this process drives. */
  driven(intentId: string): Batch | undefined {
    return [...this.#driven.values()].find(({ members }) => members.includes(intentId))
  }

  async #adopt(id: string): Promise<Batch | undefined> {
    const { client, agent } = this.#deps
    const { intent, members, cleared } = await queryBatch(client, id)
    const held = await agent.find(laneCall(batchIntentId(id), intent))
    // Several members ask for the same batch at once.
    const known = this.#driven.get(id)
    if (known || held.kind === 'refused') return known
    const batch = { id, members, pending: held.pending }
    const unfit = await this.#send(batch, async () => (cleared ? [] : this.#clear(batch)))
    return unfit.length > 0 ? undefined : batch
  }

  /** The members that must not be in it. If there are none, the batch is told so, and may be signed from then on. */
  async #clear({ id, members }: Batch, alsoUnfit?: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const { agent, client } = this.#deps
    const unfit = [...new Set([...(await agent.notFree(members)), ...((await alsoUnfit?.()) ?? [])])]
    if (unfit.length === 0) await tellBatchCleared(client, id)
    return unfit
  }

  /** Signs and sends, unless `clear` names members that must not be in it: those are returned. */
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
      if (pending.unsigned) await this.#giveUp(batch, error instanceof Error ? error.message : String(error))
      else this.#drive(batch)
      throw error
    }
    this.#drive(batch)
    return []
  }

  /** Nothing is signed, as far as this process knows: the nonce goes back, or is filled if another try may have sent it. */
  async #giveUp({ id, pending }: Batch, detail: string): Promise<void> {
    await this.#deps.agent.release(pending)
    if ((await this.#deps.agent.cancel(batchIntentId(id))) === 'free') await this.#end(id, { state: 'unsent', detail })
  }

  #drive(batch: Batch): void {
    if (this.#driven.has(batch.id)) return
    this.#driven.set(batch.id, batch)
    void this.#untilOver(batch)
  }

  /** Ends when its fate is final, or this process does not drive it any more. */
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

  /** Tells the workflow, which else finds out by itself, late. */
  async #end(id: string, end: BatchEnd): Promise<void> {
    const { client, logger, agent } = this.#deps
    const { ended } = agent.batchCounts
    ended.set(end.state, (ended.get(end.state) ?? 0) + 1)
    await tellBatchOver(client, id, end).catch((error: unknown) => {
      logger.debug('a batch was not told that it is over', { batch: id, reason: error instanceof Error ? error.message : String(error) })
    })
  }

  #entries(): Promise<readonly BatchEntry[]> {
    const { client, agent } = this.#deps
    if (this.#look && Date.now() - this.#look.at < lookMs) return this.#look.entries
    this.#look = { at: Date.now(), entries: batchEntries(client, agent.lane) }
    return this.#look.entries
  }

  async #membersOf(id: string): Promise<readonly string[]> {
    const known = this.#known.get(id) ?? (await batchMembers(this.#deps.client, id))
    // The ledger has at most some thousand entries; those of yesterday need not stay.
    if (this.#known.size > 1_000) this.#known.clear()
    this.#known.set(id, known)
    return known
  }
}

/** May it still deliver? One that is in a block without having delivered may not, though that is not final. */
function mayDeliver(state: PendingTransactionState): boolean {
  if (state.kind === 'included') return !state.noop && state.receipt.status === 'success'
  return state.kind === 'pending'
}

/** What became of it for good; undefined: nothing yet. */
function endOf(state: PendingTransactionState, nonce: number): BatchEnd | undefined {
  if (state.kind === 'spent') return { state: 'spent', detail: `nonce ${nonce} was used by a ${state.by} transaction`, nonce }
  if (state.kind === 'pending' || !state.final) return undefined
  const { receipt } = state
  const { hash: txHash, status, block } = receipt
  const detail = `transaction ${txHash} in block ${block.height}`
  return { state: status === 'success' ? 'done' : 'reverted', detail, nonce, txHash, blockHeight: block.height, gasPaid: gasPaid(receipt) }
}
