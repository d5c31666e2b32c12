import type { Account } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneAnswer, Refusal } from '../../domain/lane/messages.ts'
import type { LaneCall, LaneDeps } from '../deps.ts'
import { FairQueue, type Waiting } from '../fair-queue.ts'
import type { PendingTransactions } from '../account/pending-transactions.ts'
import type { PendingTransaction } from '../transaction/pending-transaction.ts'
import { Wait, type WaitLimit } from '../../runtime/wait.ts'

export interface NonceRequest extends LaneCall {
  readonly first: Attempt
  readonly priority: number
  readonly source: string
  /** ms since the epoch. */
  readonly deadline?: number
  readonly operatorTransaction?: boolean
}

export type Refused = Extract<LaneAnswer, { kind: 'refused' }>
export type Acquired = { readonly kind: 'acquired'; readonly pending: PendingTransaction } | Refused

interface Waiter extends Waiting {
  readonly request: NonceRequest
  refusal: { why: Refusal; detail: string }
  readonly wait: Wait<Acquired>
  /** Deadline, ms since the process started. After a pause of the process, the timer of `wait` would fire too late. */
  readonly until: number
  isAsked: boolean
  isLate: boolean
}

/** Additional wait (ms) of a call that may have been granted a nonce, because an unused nonce could cost a no-op. */
const lateAnswerMs = 10_000

/** Asks the ledger for as many nonces as the window has room for. */
export class NonceRequests {
  readonly #deps: LaneDeps
  readonly #transactions: PendingTransactions
  readonly #queue = new FairQueue<Waiter>()
  #asked = 0
  #latestNonce = 0
  /** Block hash at the ledger's last refusal. A height would not do: heights repeat on a replaced chain. */
  #refusedAt: string | undefined
  #closed = false
  /** Whether the ledger has a report from this process. Without a report, a restored ledger would grant used nonces. */
  #reported = false

  constructor(deps: LaneDeps, transactions: PendingTransactions) {
    this.#deps = deps
    this.#transactions = transactions
  }

  get waiting(): number {
    return this.#queue.size
  }

  acquire(request: NonceRequest, limit: WaitLimit): Promise<Acquired> {
    const { priority, source, deadline } = request
    const waiter: Waiter = {
      ...{ request, priority, source, deadline, since: performance.now(), isAsked: false, isLate: false },
      refusal: { why: 'window', detail: 'no slot came free' },
      wait: new Wait(limit, () => this.#onLimit(waiter, limit)),
      until: performance.now() + (limit.timeoutMs ?? Infinity),
    }
    const { promise } = waiter.wait
    if (limit.signal?.aborted) return promise
    if (this.#closed) this.#leaveToOthers(waiter)
    if (waiter.wait.over) return promise
    // The request is sent although the lane is closed, because only its answer can show that the lane is open again.
    if (this.#reported && this.#isClosedTo(request)) void this.#ask(waiter)
    else this.#queue.enter(waiter)
    this.#pump()
    return promise
  }

  onView(): void {
    for (const waiter of this.#queue.all) if (this.#isClosedTo(waiter.request)) this.#refuse(waiter)
    this.#pump()
  }

  onAccount({ latestNonce }: Account): void {
    this.#latestNonce = latestNonce
    this.#pump()
  }

  /** Called when the next update has a report, which the ledger applies before it grants nonces. */
  onReported(): void {
    this.#reported = true
    this.#pump()
  }

  close(): void {
    this.#closed = true
    for (const waiter of this.#queue.all) this.#leaveToOthers(waiter)
  }

  #leaveToOthers(waiter: Waiter): void {
    this.#queue.leave(waiter)
    waiter.wait.reject(new RelayerError('LANE_UNREACHABLE', { detail: 'this process stops', facts: { lane: this.#deps.config.lane } }))
  }

  forget(): void {
    this.#latestNonce = 0
    this.#reported = false
  }

  #onLimit(waiter: Waiter, { signal }: WaitLimit): void {
    const refuse = () => this.#refuse(waiter)
    if (!waiter.isAsked || signal?.aborted) return refuse()
    waiter.isLate = true
    const timer = setTimeout(refuse, lateAnswerMs)
    const end = () => clearTimeout(timer)
    waiter.wait.promise.then(end, end)
  }

  #refuse(waiter: Waiter, refusal = this.#closedFor() ?? waiter.refusal): void {
    this.#queue.leave(waiter)
    waiter.wait.resolve({ kind: 'refused', ...refusal })
  }

  #pump(): void {
    const { view } = this.#deps.ledger
    if (!view?.synced || !this.#reported || (this.#refusedAt !== undefined && this.#refusedAt === this.#block)) return
    for (const waiter of this.#queue.all.filter(isPast)) this.#refuse(waiter)
    const slots = view.window - (view.next - Math.max(view.latest, this.#latestNonce)) - this.#asked
    for (const waiter of this.#queue.take(slots, performance.now())) void this.#ask(waiter)
  }

  async #ask(waiter: Waiter): Promise<void> {
    const { owner, first: attempt, operatorTransaction } = waiter.request
    waiter.isAsked = true
    this.#asked += 1
    const answer = await this.#deps.ledger
      // After a pause of this process, another process may have delivered, and the nonce would be wasted.
      .ask({ kind: 'grant', owner, attempt, ...(operatorTransaction && { operatorTransaction }) }, () => isPast(waiter))
      .catch(toRelayerError)
    this.#asked -= 1
    waiter.isAsked = false
    if (answer === undefined) return this.#refuse(waiter)
    if (answer instanceof RelayerError) return waiter.wait.reject(answer)
    if (answer.kind === 'granted') {
      const pending = this.#transactions.adopt(answer.entry, waiter.request)
      if (!waiter.wait.over) return waiter.wait.resolve({ kind: 'acquired', pending })
      return void (await this.release(pending).catch(() => {}))
    }
    if (answer.kind !== 'refused' || waiter.wait.over) return
    if (answer.why === 'withdrawn' || answer.why === 'conflict' || this.#isClosedTo(waiter.request)) return waiter.wait.resolve(answer)
    if (this.#closed) return this.#leaveToOthers(waiter)
    waiter.refusal = answer
    this.#refusedAt = this.#block
    if (waiter.isLate) this.#refuse(waiter, answer)
    else this.#queue.enter(waiter)
  }

  async release(pending: PendingTransaction): Promise<boolean> {
    const { intentId, grantedTo } = pending
    if (!pending.unsigned || !intentId || !grantedTo) return false
    this.#transactions.drop(pending)
    return (await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo })).kind === 'free'
  }

  #closedFor(): { why: Refusal; detail: string } | undefined {
    const { view } = this.#deps.ledger
    if (view?.closed) return { why: view.closed.why, detail: view.closed.detail }
    return view?.synced ? undefined : { why: 'unsynced', detail: 'the ledger has not answered, or has no observation of its account yet' }
  }

  #isClosedTo({ operatorTransaction }: NonceRequest): boolean {
    const why = this.#deps.ledger.view?.closed?.why
    return why !== undefined && !(operatorTransaction && (why === 'draining' || why === 'funds'))
  }

  get #block(): string | undefined {
    return this.#deps.chain.heads.current?.latest.hash
  }
}

function isPast({ wait, until }: Waiter): boolean {
  return wait.over || performance.now() > until
}
