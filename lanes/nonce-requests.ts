import type { Chain } from '../chains/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { Attempt } from '../domain/lane/lane.ts'
import type { LaneAnswer, LaneView, Refusal } from '../domain/lane/messages.ts'
import type { LaneCall } from './lane-call.ts'
import type { LedgerClient } from './ledger-client.ts'
import { NonceQueue, type Waiting } from './nonce-queue.ts'
import type { PendingTransactions } from './pending-transactions.ts'
import type { PendingTransaction } from './transaction/pending-transaction.ts'

/** A call that needs a nonce. */
export interface NonceRequest extends LaneCall {
  readonly first: Attempt
  /** Class, 1 (first) … 5. */
  readonly priority: number
  readonly source: string
  /** ms since the epoch: of one class and source, the earliest is served first. */
  readonly deadline?: number
  /** An operator's own intent: see the ledger's `grant`. */
  readonly operatorTransaction?: boolean
}

export type Refused = Extract<LaneAnswer, { kind: 'refused' }>
export type Acquired = { readonly kind: 'acquired'; readonly pending: PendingTransaction } | Refused

interface Waiter extends Waiting {
  readonly request: NonceRequest
  refusal: { why: Refusal; detail: string }
  /** The caller has its answer. */
  done: boolean
  resolve(result: Acquired): void
  reject(error: RelayerError): void
}

export interface NonceRequestsDeps {
  readonly chain: Chain
  readonly ledger: LedgerClient
  readonly transactions: PendingTransactions
  /** The account's nonce as this process last read it. */
  latestNonce(): number
  readonly ageingMs?: number
}

/** The calls of one process that wait for a nonce: asks the ledger for as many as its window has room for, the best first. */
export class NonceRequests {
  readonly #deps: NonceRequestsDeps
  readonly #queue: NonceQueue<Waiter>
  #asked = 0
  /** Hash of the block at which the ledger last refused: a height may come again, and lower, on a chain that was replaced. */
  #refusedAt: string | undefined

  constructor(deps: NonceRequestsDeps) {
    this.#deps = deps
    this.#queue = new NonceQueue(deps.ageingMs)
  }

  get waiting(): number {
    return this.#queue.size
  }

  acquire(request: NonceRequest, { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): Promise<Acquired> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onTimeout)
        this.#queue.leave(waiter)
        waiter.done = true
      }
      const onTimeout = () => waiter.resolve({ kind: 'refused', ...(this.#closedFor() ?? waiter.refusal) })
      const timer = setTimeout(onTimeout, timeoutMs)
      signal?.addEventListener('abort', onTimeout)
      const { priority, source, deadline } = request
      const waiter: Waiter = {
        ...{ request, priority, source, deadline, since: Date.now(), done: false },
        refusal: { why: 'window', detail: 'no slot came free' },
        resolve: (result) => {
          end()
          resolve(result)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      if (signal?.aborted) return onTimeout()
      // What was known may be old, and no other process asks a closed lane: the ledger itself says whether it still is.
      if (this.#isClosedTo(request)) return void this.#ask(waiter)
      this.#queue.enter(waiter)
      this.pump()
    })
  }

  /** Those that a closed lane does not serve go elsewhere. */
  onView({ closed }: LaneView): void {
    for (const waiter of closed ? this.#queue.all : []) {
      if (closed && this.#isClosedTo(waiter.request)) waiter.resolve({ kind: 'refused', why: closed.why, detail: closed.detail })
    }
    this.pump()
  }

  /** Asks for as many nonces as the window has room for. */
  pump(): void {
    const { ledger, latestNonce } = this.#deps
    const { view } = ledger
    if (!view?.synced || (this.#refusedAt !== undefined && this.#refusedAt === this.#block)) return
    const slots = view.window - (view.next - Math.max(view.latest, latestNonce())) - this.#asked
    for (const waiter of this.#queue.take(slots, Date.now())) void this.#ask(waiter)
  }

  async #ask(waiter: Waiter): Promise<void> {
    const { ledger, transactions } = this.#deps
    const { owner, first: attempt, operatorTransaction } = waiter.request
    this.#asked += 1
    const answer = await ledger
      .ask({ kind: 'grant', owner, attempt, ...(operatorTransaction && { operatorTransaction }) })
      .catch(toRelayerError)
    this.#asked -= 1
    if (answer instanceof RelayerError) return waiter.reject(answer)
    if (answer.kind === 'granted') {
      const pending = transactions.adopt(answer.entry, waiter.request)
      if (!waiter.done) return waiter.resolve({ kind: 'acquired', pending })
      // The caller has gone and nothing is signed: the nonce goes back. If this process is stopping, the next process's try finds it held.
      return this.release(pending).catch(() => {})
    }
    if (answer.kind !== 'refused' || waiter.done) return
    if (answer.why === 'withdrawn' || answer.why === 'conflict' || this.#isClosedTo(waiter.request)) return waiter.resolve(answer)
    waiter.refusal = answer
    // Asking again before the next block would get the same answer.
    this.#refusedAt = this.#block
    this.#queue.enter(waiter)
  }

  /** Gives a nonce back that nothing was signed for; one that may have been signed stays the lane's debt. */
  async release(pending: PendingTransaction): Promise<void> {
    const { intentId, grantedTo } = pending
    if (!pending.unsigned || !intentId || !grantedTo) return
    this.#deps.transactions.drop(pending)
    await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo })
  }

  /** Why no nonce is granted, as last heard. */
  #closedFor(): { why: Refusal; detail: string } | undefined {
    const { view } = this.#deps.ledger
    if (view?.closed) return { why: view.closed.why, detail: view.closed.detail }
    return view?.synced ? undefined : { why: 'unsynced', detail: 'the ledger has not answered, or not read its account, yet' }
  }

  #isClosedTo({ operatorTransaction }: NonceRequest): boolean {
    const why = this.#deps.ledger.view?.closed?.why
    return why !== undefined && !(operatorTransaction && (why === 'draining' || why === 'funds'))
  }

  get #block(): string | undefined {
    return this.#deps.chain.heads.current?.latest.hash
  }
}
