import type { Account, Chain, Signer } from '../chains/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { Intent } from '../domain/intent.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { Attempt, Entry, LaneConfig, Owner } from '../domain/lane/lane.ts'
import type { FillOrder, LaneAnswer, LaneView, RaiseOrder, Refusal } from '../domain/lane/messages.ts'
import type { Logger } from '../observability/logger.ts'
import { AccountObserver } from './account-observer.ts'
import { Alerts } from './alerts.ts'
import { BatchCounts } from './batch/counts.ts'
import { PendingTransaction } from './transaction/pending-transaction.ts'
import type { LedgerClient } from './ledger-client.ts'
import { orAborted } from './or-aborted.ts'
import type { Waiting } from './nonce-queue.ts'
import { NonceQueue } from './nonce-queue.ts'

/** A call, and the intent that it belongs to. */
export interface LaneCall {
  readonly owner: Owner
  readonly intent: Intent
}

/** A call that wants a nonce. */
export interface NonceRequest extends LaneCall {
  readonly first: Attempt
  readonly priority: number
  readonly source: string
  /** ms since the epoch: of one class and source, the earliest is served first. */
  readonly deadline?: number
  /** An operator's own intent: see the ledger's `grant`. */
  readonly operatorTransaction?: boolean
}

export type Acquired = { readonly kind: 'flight'; readonly flight: PendingTransaction } | Extract<LaneAnswer, { kind: 'refused' }>

interface Waiter extends Waiting {
  readonly want: NonceRequest
  why: { why: Refusal; detail: string }
  gone: boolean
  settle(result: Acquired): void
  fail(error: RelayerError): void
}

export interface AgentDeps {
  readonly chain: Chain
  readonly signer: Signer
  readonly ledger: LedgerClient
  readonly logger: Logger
  readonly config: LaneConfig
  readonly bumpAfterBlocks: number
  /** Whoever waits for a slot rises by a class in this time, ms. Default 10 s. */
  readonly ageingMs?: number
  /** What may be spent, as it stands now; absent: no limits but those of raises. */
  readonly fees?: FeePolicyResolver
}

/**
 * The key's side of one lane in one process: asks the ledger, lets those wait whom the window has no room for, drives the nonces that were
 * given, and tells the ledger once per block what the chain says. Any number of processes may run one for the same lane.
 */
export class LaneAgent {
  /** Of the calls that transfers shared. */
  readonly batchCounts = new BatchCounts()
  readonly #deps: AgentDeps
  readonly #room: NonceQueue<Waiter>
  readonly #flights = new Map<number, PendingTransaction>()
  readonly #watch: AccountObserver
  readonly #alerts: Alerts
  #asked = 0
  /** Hash of the block at which the ledger last refused: a height may come again, and lower, on a chain that was replaced. */
  #held: string | undefined
  #era = 0
  #external = 0

  constructor(deps: AgentDeps) {
    this.#deps = deps
    this.#room = new NonceQueue(deps.ageingMs)
    this.#alerts = new Alerts(deps.config.lane, deps.logger)
    this.#watch = new AccountObserver(deps, () => {
      const claims = [...this.#flights.values()].filter((flight) => flight.drives).map((flight) => flight.nonce)
      return { claims, flying: this.#flights.size, waiting: this.#room.size }
    })
    this.#watch.onAccount = (account) => this.#onAccount(account)
    deps.ledger.subscribe({
      onOrders: (fills, raises) => {
        fills.forEach((order) => this.#obey(order))
        raises.forEach((order) => this.#raise(order))
      },
      onView: (view) => this.#onView(view),
    })
  }

  /** Starts watching. Throws SIGNER_UNAVAILABLE if the key is not the lane's. */
  start(): void {
    const { signer, config } = this.#deps
    if (!config.lane.endsWith(signer.address)) {
      throw new RelayerError('SIGNER_UNAVAILABLE', { detail: `the key is of ${signer.address}`, facts: { lane: config.lane } })
    }
    this.#watch.start()
  }

  stop(): void {
    this.#watch.stop()
    this.#deps.ledger.close()
    this.#drop()
  }

  get lane(): LaneId {
    return this.#deps.config.lane
  }

  get view(): LaneView | undefined {
    return this.#deps.ledger.view
  }

  /** How many wait for a slot, and how many nonces this process drives. */
  get load(): { waiting: number; flying: number } {
    return { waiting: this.#room.size, flying: this.#flights.size }
  }

  /** Nonces that are stuck at the dearest fee that they may have. */
  get atFeeLimit(): number {
    return [...this.#flights.values()].filter((flight) => flight.atFeeLimit).length
  }

  /** wei, decimal, as last read. */
  get balance(): string | undefined {
    return this.#watch.account?.balance
  }

  /** Nonces of the account that somebody else used, as far as the ledger and this process know. */
  get external(): number {
    return (this.view?.external ?? 0) + this.#external
  }

  flightOf(intentId: string): PendingTransaction | undefined {
    return [...this.#flights.values()].find((flight) => flight.intentId === intentId && !flight.estranged)
  }

  /** The nonce that a call holds already, and its transaction; nothing new is given. Throws LANE_UNREACHABLE when this process stops. */
  async find({ owner, intent }: LaneCall, signal?: AbortSignal): Promise<Acquired> {
    const { intentId, callHash } = owner
    const flying = this.flightOf(intentId)
    if (flying) return { kind: 'flight', flight: flying }
    const answer = await orAborted(this.#deps.ledger.ask({ kind: 'find', intentId, callHash }), signal)
    if (answer?.kind === 'granted') return { kind: 'flight', flight: this.#fly(answer.entry, { owner, intent }) }
    return answer?.kind === 'refused' ? answer : { kind: 'refused', why: 'none', detail: 'the intent has no nonce' }
  }

  /**
   * A nonce for a call, and its transaction. Refused with the last reason when no slot came free within `timeoutMs`; at once with `withdrawn` or
   * `conflict`, and when the lane takes no new work, so that another does. Throws LANE_UNREACHABLE when this process stops.
   */
  async acquire(want: NonceRequest, options: { timeoutMs: number; signal?: AbortSignal }): Promise<Acquired> {
    const flying = this.flightOf(want.owner.intentId)
    if (flying) return { kind: 'flight', flight: flying }
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        options.signal?.removeEventListener('abort', leave)
        this.#room.leave(waiter)
        waiter.gone = true
      }
      const settle = (result: Acquired) => {
        end()
        resolve(result)
      }
      const fail = (error: RelayerError) => {
        end()
        reject(error)
      }
      const leave = () => settle({ kind: 'refused', ...(this.#closedFor() ?? waiter.why) })
      const timer = setTimeout(leave, options.timeoutMs)
      options.signal?.addEventListener('abort', leave)
      const why = { why: 'window' as const, detail: 'no slot came free' }
      const { priority, source, deadline } = want
      const waiter: Waiter = { want, priority, source, deadline, since: Date.now(), why, gone: false, settle, fail }
      if (options.signal?.aborted) return leave()
      // What was known may be old, and nobody else asks a closed lane: the ledger itself says whether it still is.
      if (this.#isClosedTo(want)) return void this.#askFor(waiter)
      this.#room.enter(waiter)
      this.#pump()
    })
  }

  /** Gives a nonce back that nothing was signed for; one that may have been signed stays the lane's debt. */
  async giveBack(flight: PendingTransaction): Promise<void> {
    const { intentId, grantedTo } = flight
    if (!flight.unsigned || !intentId || !grantedTo) return
    this.#flights.delete(flight.nonce)
    flight.close()
    await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo })
  }

  /** Lets an intent go: `free` if nothing of it can be mined any more, else its nonce gets the lane's no-op. */
  async cancel(intentId: string): Promise<'free' | 'held'> {
    const answer = await this.#deps.ledger.ask({ kind: 'withdraw', intentId, how: 'cancel' })
    return answer.kind === 'held' ? 'held' : 'free'
  }

  /** Those of these intents that are withdrawn, or hold a nonce of their own: none of them may be carried by another intent. */
  async unfree(intentIds: readonly string[]): Promise<string[]> {
    const answers = intentIds.map((intentId) => this.#deps.ledger.ask({ kind: 'find', intentId }))
    const free = (await Promise.all(answers)).map((answer) => answer.kind === 'refused' && answer.why === 'none')
    return intentIds.filter((_, index) => !free[index])
  }

  /** Why nobody gets a nonce, as last heard. */
  #closedFor(): { why: Refusal; detail: string } | undefined {
    const { view } = this
    if (view?.closed) return { why: view.closed.why, detail: view.closed.detail }
    return view?.synced ? undefined : { why: 'unsynced', detail: 'the ledger has not answered, or not read its account, yet' }
  }

  #isClosedTo({ operatorTransaction }: NonceRequest): boolean {
    const why = this.view?.closed?.why
    return why !== undefined && !(operatorTransaction && (why === 'draining' || why === 'funds'))
  }

  #onView(view: LaneView): void {
    this.#alerts.see(view)
    if (view.era !== this.#era || view.closed?.why === 'replaced') {
      this.#era = view.era
      this.#drop()
      this.#watch.forget()
    }
    for (const waiter of this.#room.all) {
      if (view.closed && this.#isClosedTo(waiter.want)) waiter.settle({ kind: 'refused', why: view.closed.why, detail: view.closed.detail })
    }
    this.#pump()
  }

  /** What the ledger does not know any more is driven no further. */
  #drop(): void {
    for (const flight of this.#flights.values()) flight.close()
    this.#flights.clear()
  }

  #pump(): void {
    const { view } = this
    if (!view?.synced || (this.#held !== undefined && this.#held === this.#deps.chain.heads.current?.latest.hash)) return
    const latest = Math.max(view.latest, this.#watch.account?.latestNonce ?? 0)
    const slots = view.window - (view.next - latest) - this.#asked
    for (const waiter of this.#room.take(slots, Date.now())) void this.#askFor(waiter)
  }

  async #askFor(waiter: Waiter): Promise<void> {
    const { owner, first: attempt, operatorTransaction } = waiter.want
    this.#asked += 1
    const answer = await this.#deps.ledger
      .ask({ kind: 'grant', owner, attempt, ...(operatorTransaction && { operatorTransaction }) })
      .catch(toRelayerError)
    this.#asked -= 1
    if (answer instanceof RelayerError) return waiter.fail(answer)
    if (answer.kind === 'granted') {
      const flight = this.#fly(answer.entry, waiter.want)
      if (!waiter.gone) return waiter.settle({ kind: 'flight', flight })
      // Nobody waits any more and nothing is signed: the nonce goes back. If this process is stopping, the next one's try finds it held.
      return this.giveBack(flight).catch(() => {})
    }
    if (answer.kind !== 'refused' || waiter.gone) return
    if (answer.why === 'withdrawn' || answer.why === 'conflict' || this.#isClosedTo(waiter.want)) return waiter.settle(answer)
    waiter.why = answer
    // Asking again before the next block would get the same answer.
    this.#held = this.#deps.chain.heads.current?.latest.hash
    this.#room.enter(waiter)
  }

  #fly({ nonce, attempts, grantedTo, maybeSent }: Entry, want: LaneCall): PendingTransaction {
    const { intentId } = want.owner
    const known = this.#flights.get(nonce)
    if (known && known.intentId === intentId && !known.estranged) return known
    known?.close()
    // Only the try that was answered first may give the nonce back: another one may have sent it, whatever the ledger remembers of that later.
    const owned = { intentId, intent: want.intent, ...(!maybeSent && { grantedTo }) }
    const flight = new PendingTransaction(this.#deps, nonce, attempts, owned)
    this.#flights.set(nonce, flight)
    return flight
  }

  #obey(order: FillOrder): void {
    let flight = this.#flights.get(order.nonce)
    if (!flight || flight.estranged) {
      flight?.close()
      flight = new PendingTransaction(this.#deps, order.nonce, order.attempts, undefined, {
        outbid: flight?.offered,
        callHash: order.callHash,
      })
      this.#flights.set(order.nonce, flight)
    }
    flight.fill(order.attempts).catch((error: unknown) => {
      this.#deps.logger.warn('a no-op could not be sent; ordered again at the next block', {
        nonce: order.nonce,
        reason: error instanceof Error ? error.message : String(error),
      })
    })
  }

  /** An operator's raise, of what this process drives: another process drives the rest. */
  #raise({ nonce, after, maxFee, tip }: RaiseOrder): void {
    const flight = this.#flights.get(nonce)
    if (!flight?.drives || flight.attempts > after) return
    const least = { ...(maxFee && { maxFee }), ...(tip && { tip }) }
    flight.bump(undefined, least).catch((error: unknown) => {
      this.#deps.logger.warn('a raise could not be made; ordered again', {
        nonce,
        reason: error instanceof Error ? error.message : String(error),
      })
    })
  }

  #onAccount(account: Account): void {
    for (const flight of this.#flights.values()) flight.onBlock(account.block.height, account)
    this.#pump()
    this.#sweep()
  }

  /** Flights whose fate is final are over. */
  #sweep(): void {
    for (const [nonce, flight] of this.#flights) {
      const { state } = flight
      if (state.kind === 'spent' || (state.kind === 'included' && state.final)) {
        this.#flights.delete(nonce)
        flight.close()
        // Of a nonce that it only fills, this process cannot sign the call that may have won: that one is no stranger's.
        if (state.kind === 'spent' && state.by === 'external' && flight.intentId !== undefined) {
          this.#external += 1
          this.#alerts.external(nonce)
        }
      }
    }
  }
}
