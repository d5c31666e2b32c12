import type { Spending } from '../chains/signing-port.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { laneAddress, type LaneId } from '../domain/lane/lane.ts'
import type { LaneAnswer, LaneView } from '../domain/lane/messages.ts'
import type { BatchEnd } from '../temporal/contracts/batch.ts'
import type { TokenReading } from '../domain/lane/tokens.ts'
import { AccountObserver } from './account/account-observer.ts'
import { type Alerts, createAlerts } from './alerts.ts'
import type { LaneCall, LaneDeps } from './deps.ts'
import { NonceRequests, type Acquired, type NonceRequest } from './ledger/nonce-requests.ts'
import { PendingTransactions } from './account/pending-transactions.ts'
import { signingRefusal } from './transaction/attempts.ts'
import type { PendingTransaction } from './transaction/pending-transaction.ts'
import { problemOf } from '../observability/severity.ts'
import { Wait, type WaitLimit } from '../runtime/wait.ts'

/** Holds a lane's key in one process: asks for nonces, signs, sends, observes. Several processes may serve a lane. */
export class LaneAgent {
  readonly batchCounts = { members: 0, signed: 0, split: 0, ended: new Map<BatchEnd['state'], number>() }
  readonly raises = { call: 0, noop: 0 }
  readonly #deps: LaneDeps
  readonly #transactions: PendingTransactions
  readonly #requests: NonceRequests
  readonly #observer: AccountObserver
  readonly #alerts: Alerts
  readonly #tokens = new Map<string, TokenReading>()
  #stopTokens: (() => void) | undefined
  #era = 0
  #republished: number | undefined

  constructor(given: LaneDeps) {
    const deps: LaneDeps = { ...given, raised: (kind) => void this.raises[kind]++ }
    this.#deps = deps
    this.#alerts = createAlerts(deps.logger)
    this.#transactions = new PendingTransactions(deps, this.#alerts)
    this.#requests = new NonceRequests(deps, this.#transactions)
    this.#observer = new AccountObserver(deps, this.#transactions, this.#requests)
    deps.ledger.subscribe(({ view, orders, raises }) => {
      for (const order of orders) this.#transactions.fill(order)
      for (const order of raises) this.#transactions.raise(order)
      this.#onView(view)
    })
  }

  /** Throws SIGNER_UNAVAILABLE if the key belongs to another lane. */
  start(): void {
    const { signer, config } = this.#deps
    if (!config.lane.endsWith(signer.address)) {
      throw new RelayerError('SIGNER_UNAVAILABLE', { detail: `the key belongs to ${signer.address}`, facts: { lane: config.lane } })
    }
    this.#observer.start()
    this.#stopTokens = watchTokens(this.#deps, this.#tokens)
  }

  /** Stops asking for nonces, but still drives the nonces it has. Waiting calls fail with LANE_UNREACHABLE. */
  quiesce(): void {
    this.#requests.close()
  }

  stop(): void {
    const nonces = this.#transactions.claims
    if (nonces.length > 0)
      this.#deps.logger.info('handed over: these nonces are in no block yet; the next process with the key drives them', { nonces })
    this.#requests.close()
    this.#observer.stop()
    this.#stopTokens?.()
    this.#deps.ledger.close()
    this.#transactions.clear()
  }

  get lane(): LaneId {
    return this.#deps.config.lane
  }

  get view(): LaneView | undefined {
    return this.#deps.ledger.view
  }

  get load(): { waiting: number; pending: number } {
    return { waiting: this.#requests.waiting, pending: this.#transactions.size }
  }

  get atFeeLimit(): number {
    return this.#transactions.count(({ atFeeLimit }) => atFeeLimit)
  }

  /** Decimal wei. */
  get balance(): string | undefined {
    return this.#observer.account?.balance
  }

  get tokens(): readonly TokenReading[] {
    return [...this.#tokens.values()]
  }

  get external(): number {
    return this.#alerts.external()
  }

  pendingOf(intentId: string): PendingTransaction | undefined {
    return this.#transactions.of(intentId)
  }

  /**
   * Returns the nonce that a call already holds, or a refusal: `none` if the signal aborts first. Throws
   * LANE_UNREACHABLE when this process stops.
   */
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
   * Gets a nonce, or a refusal if the lane is closed or full for too long. Throws LANE_UNREACHABLE, errors of
   * `checkSigning`.
   */
  async acquire(request: NonceRequest, limit: WaitLimit): Promise<Acquired> {
    const pending = this.pendingOf(request.owner.intentId)
    if (pending) return { kind: 'acquired', pending }
    if (this.#deps.signer.check) await this.checkSigning(request)
    return this.#requests.acquire(request, limit)
  }

  /** Throws the errors of `Signer.check` if the first attempt would not be signed. */
  async checkSigning({ intent, first }: Pick<NonceRequest, 'intent' | 'first'>): Promise<void> {
    const { signer, chain } = this.#deps
    const { gasLimit, maxFee, tip } = first
    const { to, data, value } = intent
    await signer.check?.({ networkId: chain.networkId, gasLimit, maxFee, tip, to, data, value })
  }

  get signingRefused(): number {
    return this.#transactions.count(({ signingRefused }) => signingRefused)
  }

  get spending(): readonly Spending[] {
    return this.#deps.signer.spending?.() ?? []
  }

  /**
   * Gives the nonce back after `signAndSend` failed. If this is not possible, returns false, and the lane uses the
   * nonce: with a no-op if the key refuses the call.
   */
  async giveUp(pending: PendingTransaction, failure: unknown): Promise<boolean> {
    const isFree = await this.release(pending)
    if (!isFree && signingRefusal(failure)) await this.#deps.ledger.ask({ kind: 'fill', nonce: pending.nonce, reason: 'refused' })
    return isFree
  }

  /** Gives the nonce back. Resolves to false if a transaction with the nonce may be signed, so the lane must use it. */
  release(pending: PendingTransaction): Promise<boolean> {
    return this.#requests.release(pending)
  }

  /** Withdraws an intent. `free`: none of its transactions can be mined. `held`: the lane fills its nonce. */
  async cancel(intentId: string): Promise<'free' | 'held'> {
    const answer = await this.#deps.ledger.ask({ kind: 'withdraw', intentId, how: 'cancel' })
    return answer.kind === 'held' ? 'held' : 'free'
  }

  /** Intents that a batch must not carry, because they are withdrawn or already hold a nonce. */
  async notFree(intentIds: readonly string[]): Promise<string[]> {
    const answers = await Promise.all(intentIds.map((intentId) => this.#deps.ledger.ask({ kind: 'find', intentId })))
    const free = answers.map((answer) => answer.kind === 'refused' && answer.why === 'none')
    return intentIds.filter((_, index) => !free[index])
  }

  #onView(view: LaneView): void {
    this.#alerts.see(view)
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
    this.#requests.onView()
  }
}

const tokensEveryBlocks = 10

/** Reads all balances together, with one request per node. Returns a function that ends the reads. */
function watchTokens({ chain, config, logger, tokens = [] }: LaneDeps, seen: Map<string, TokenReading>): () => void {
  if (tokens.length === 0) return () => {}
  let readAt: number | undefined
  const read = async (height: number) => {
    if (readAt !== undefined && Math.abs(height - readAt) < tokensEveryBlocks) return
    readAt = height
    const reads = tokens.map(async (one) =>
      seen.set(one.token, { ...one, balance: await chain.balanceOf(laneAddress(config.lane), one.token) }),
    )
    const failed = (await Promise.allSettled(reads)).find((one) => one.status === 'rejected')
    if (failed) logger.warn('some token balances of the lane could not be read', problemOf(failed.reason))
  }
  return chain.heads.subscribe(({ latest }) => void read(latest.height))
}
