import type { Spending } from '../chains/signing-port.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { LaneAnswer, LaneView } from '../domain/lane/messages.ts'
import type { BatchEnd } from '../temporal/contracts/batch.ts'
import { AccountObserver } from './account/account-observer.ts'
import { Alerts } from './alerts.ts'
import type { LaneDeps } from './deps.ts'
import type { LaneCall } from './lane-call.ts'
import { NonceRequests, type Acquired, type NonceRequest } from './ledger/nonce-requests.ts'
import { PendingTransactions } from './account/pending-transactions.ts'
import type { PendingTransaction } from './transaction/pending-transaction.ts'
import { Wait, type WaitLimit } from '../runtime/wait.ts'

/** The key's side of one lane in one process: gets nonces, drives them, and reports the account. Any number of processes may run one for the same lane. */
export class LaneAgent {
  /** Of this process: batches that it `signed` and their `members`, simulations that reverted and were `split`, and how batches `ended`. */
  readonly batchCounts = { members: 0, signed: 0, split: 0, ended: new Map<BatchEnd['state'], number>() }
  /** Attempts that this process recorded beyond the first of their nonce. */
  readonly raises = { call: 0, noop: 0 }
  readonly #deps: LaneDeps
  readonly #transactions: PendingTransactions
  readonly #requests: NonceRequests
  readonly #observer: AccountObserver
  readonly #alerts: Alerts
  #era = 0
  /** `at` of the newest order to send again that it has obeyed. */
  #republished: number | undefined

  constructor(given: LaneDeps) {
    const deps: LaneDeps = { ...given, raised: (kind) => void this.raises[kind]++ }
    this.#deps = deps
    this.#alerts = new Alerts(deps)
    this.#transactions = new PendingTransactions(deps, this.#alerts)
    this.#requests = new NonceRequests(deps, this.#transactions)
    this.#observer = new AccountObserver(deps, this.#transactions, this.#requests)
    deps.ledger.subscribe(({ view, orders, raises }) => {
      for (const order of orders) this.#transactions.fill(order)
      for (const order of raises) this.#transactions.raise(order)
      this.#onView(view)
    })
  }

  /** Starts observing. Throws SIGNER_UNAVAILABLE if the key is not the lane's. */
  start(): void {
    const { signer, config } = this.#deps
    if (!config.lane.endsWith(signer.address)) {
      throw new RelayerError('SIGNER_UNAVAILABLE', { detail: `the key is of ${signer.address}`, facts: { lane: config.lane } })
    }
    this.#observer.start()
  }

  /** This process is about to stop: it gets no more nonces, and drives those that it has. Who waits for one fails with LANE_UNREACHABLE, and asks elsewhere. */
  quiesce(): void {
    this.#requests.close()
  }

  /** Ends it, and says which nonces it leaves to the next process with the key: all that is needed for them is in the ledger. */
  stop(): void {
    const nonces = this.#transactions.claims
    if (nonces.length > 0)
      this.#deps.logger.info('handed over: these nonces are in no block yet; the next process with the key goes on with them', { nonces })
    this.#requests.close()
    this.#observer.stop()
    this.#deps.ledger.close()
    this.#transactions.clear()
  }

  get lane(): LaneId {
    return this.#deps.config.lane
  }

  get view(): LaneView | undefined {
    return this.#deps.ledger.view
  }

  /** How many calls wait for a slot, and how many nonces this process drives. */
  get load(): { waiting: number; pending: number } {
    return { waiting: this.#requests.waiting, pending: this.#transactions.size }
  }

  /** How many nonces are stuck at the dearest fee that they may have. */
  get atFeeLimit(): number {
    return this.#transactions.atFeeLimit
  }

  /** wei, decimal, as last read. */
  get balance(): string | undefined {
    return this.#observer.account?.balance
  }

  /** Nonces of the account that a transaction from outside Portage used, as far as the ledger and this process know. */
  get external(): number {
    return this.#alerts.external
  }

  /** The transaction of an intent, if this process drives it. */
  pendingOf(intentId: string): PendingTransaction | undefined {
    return this.#transactions.of(intentId)
  }

  /** The nonce that a call holds already, and its transaction; nothing new is given. Throws LANE_UNREACHABLE when this process stops. */
  async find(call: LaneCall, signal?: AbortSignal): Promise<Acquired> {
    const { intentId, callHash } = call.owner
    const pending = this.pendingOf(intentId)
    if (pending) return { kind: 'acquired', pending }
    const wait = new Wait<LaneAnswer | undefined>({ signal }, () => wait.resolve(undefined))
    void this.#deps.ledger.ask({ kind: 'find', intentId, callHash }).then(wait.resolve, wait.reject)
    const answer = await wait.promise
    if (answer?.kind === 'granted') return { kind: 'acquired', pending: this.#transactions.adopt(answer.entry, call) }
    return answer?.kind === 'refused' ? answer : { kind: 'refused', why: 'none', detail: 'the intent has no nonce' }
  }

  /**
   * A nonce for a call, and its transaction. Refused when no slot came free within `timeoutMs`; at once if `withdrawn` or a `conflict`, and when the lane takes
   * no new work, so that another lane does. Throws LANE_UNREACHABLE when this process stops, and as `justify`.
   */
  async acquire(request: NonceRequest, limit: WaitLimit): Promise<Acquired> {
    const pending = this.pendingOf(request.owner.intentId)
    if (pending) return { kind: 'acquired', pending }
    if (this.#deps.signer.check) await this.justify(request)
    return this.#requests.acquire(request, limit)
  }

  /** Would the signer sign it now? Asked before anything holds a nonce, or shares a call, for it. Throws SIGNING_REFUSED, CALL_UNJUSTIFIED, what reads throw. */
  async justify({ intent, first }: Pick<NonceRequest, 'intent' | 'first'>): Promise<void> {
    const { signer, chain } = this.#deps
    const { gasLimit, maxFee, tip } = first
    const { to, data, value } = intent
    await signer.check?.({ networkId: chain.networkId, gasLimit, maxFee, tip, to, data, value })
  }

  /** How many nonces need an attempt that the signer refuses. */
  get signingRefused(): number {
    return this.#transactions.signingRefused
  }

  /** What the key has signed for lately, as this process knows it. */
  get spending(): readonly Spending[] {
    return this.#deps.signer.spending?.() ?? []
  }

  /** Signs what is recorded for a nonce, and sends it. If that fails and nothing was signed, the nonce goes back. Throws what the signer throws. */
  async signAndSend(pending: PendingTransaction): Promise<void> {
    try {
      await pending.signAndSend()
    } catch (error) {
      await this.release(pending)
      throw error
    }
  }

  /** Gives a nonce back that nothing was signed for; one that may have been signed stays the lane's debt. */
  release(pending: PendingTransaction): Promise<void> {
    return this.#requests.release(pending)
  }

  /** Lets an intent go: `free` if nothing of it can be mined any more, else its nonce gets the lane's no-op. */
  async cancel(intentId: string): Promise<'free' | 'held'> {
    const answer = await this.#deps.ledger.ask({ kind: 'withdraw', intentId, how: 'cancel' })
    return answer.kind === 'held' ? 'held' : 'free'
  }

  /** Those of these intents that are withdrawn, or hold a nonce of their own: another intent must not carry them. */
  async notFree(intentIds: readonly string[]): Promise<string[]> {
    const answers = await Promise.all(intentIds.map((intentId) => this.#deps.ledger.ask({ kind: 'find', intentId })))
    const free = answers.map((answer) => answer.kind === 'refused' && answer.why === 'none')
    return intentIds.filter((_, index) => !free[index])
  }

  #onView(view: LaneView): void {
    this.#alerts.see(view)
    // A ledger that began anew, or whose chain was replaced, does not know these transactions any more.
    if (view.era !== this.#era || view.closed?.why === 'replaced') {
      this.#era = view.era
      this.#transactions.clear()
      this.#observer.forget()
    }
    const { republish } = view
    if (republish && republish.at !== this.#republished) {
      this.#republished = republish.at
      this.#transactions.republish(republish.nonce)
    }
    this.#requests.onView(view)
  }
}
