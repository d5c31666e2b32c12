import type { Account, Chain, HeadEvent, Signer } from '../chains/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { Intent } from '../domain/intent.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { Attempt, Entry, FillOrder, LaneConfig, LaneView, Observation, Owner, Refusal } from '../domain/lane.ts'
import type { Logger } from '../observability/logger.ts'
import { Flight } from './flight.ts'
import type { Ledger } from './ledger.ts'
import type { Waiting } from './waiting-room.ts'
import { WaitingRoom } from './waiting-room.ts'

/** A lane without work is looked at this seldom, blocks: for funds and for foreign use of its key. */
const idleBlocks = 10

/** While nothing moves, the ledger is told so this often in the time after which it fills a nonce that nobody claims. */
const claimsPerFill = 20

/** A call that wants a nonce. */
export interface Want {
  readonly owner: Owner
  readonly intent: Intent
  readonly first: Attempt
  readonly priority: number
  readonly source: string
}

export type Acquired =
  | { readonly kind: 'flight'; readonly flight: Flight }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string }

interface Waiter extends Waiting {
  readonly want: Want
  why: { why: Refusal; detail: string }
  gone: boolean
  settle(result: Acquired): void
}

/**
 * The key's side of one lane in one process: asks the ledger, lets those wait whom the window has no room for, drives the nonces that were
 * given, and tells the ledger once per block what the chain says. Any number of processes may run one for the same lane.
 */
export class LaneAgent {
  readonly #deps: { chain: Chain; signer: Signer; ledger: Ledger; logger: Logger; config: LaneConfig; bumpAfterBlocks: number }
  readonly #room = new WaitingRoom<Waiter>()
  readonly #flights = new Map<number, Flight>()
  #asked = 0
  #held = -1
  #since = 0
  #account: Account | undefined
  #sent: Observation | undefined
  #reading = false
  #unsubscribe: (() => void) | undefined

  constructor(deps: { chain: Chain; signer: Signer; ledger: Ledger; logger: Logger; config: LaneConfig; bumpAfterBlocks: number }) {
    this.#deps = deps
    deps.ledger.onOrders = (orders) => orders.forEach((order) => this.#obey(order))
    deps.ledger.onView = () => this.#pump()
  }

  /** Starts watching. Throws SIGNER_UNAVAILABLE if the key is not the lane's. */
  start(): void {
    const { chain, signer, config } = this.#deps
    if (!config.lane.endsWith(signer.address)) {
      throw new RelayerError('SIGNER_UNAVAILABLE', { detail: `the key is of ${signer.address}`, facts: { lane: config.lane } })
    }
    this.#since = chain.heads.current?.latest.height ?? 0
    this.#unsubscribe = chain.heads.subscribe((event) => void this.#onBlock(event))
    if (chain.heads.current) void this.#onBlock(chain.heads.current)
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#deps.ledger.close()
    for (const flight of this.#flights.values()) flight.close()
    this.#flights.clear()
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

  flightOf(intentId: string): Flight | undefined {
    return [...this.#flights.values()].find((flight) => flight.intentId === intentId && !flight.estranged)
  }

  /**
   * The nonce of an intent and its flight. `again`: only what it holds already, past the window and at once. Refused with the last reason
   * when no slot came free within `timeoutMs`, or with `withdrawn` or `conflict` at once.
   */
  async acquire(want: Want, options: { again: boolean; timeoutMs: number; signal?: AbortSignal }): Promise<Acquired> {
    const flying = this.flightOf(want.owner.intentId)
    if (flying) return { kind: 'flight', flight: flying }
    if (options.again) {
      const ask = this.#deps.ledger.ask({ kind: 'grant', owner: want.owner, attempt: want.first, onlyExisting: true })
      const answer = await orAborted(ask, options.signal)
      if (answer?.kind === 'granted') return { kind: 'flight', flight: this.#fly(answer.entry, want) }
      return answer?.kind === 'refused' ? answer : { kind: 'refused', why: 'none', detail: 'the intent has no nonce' }
    }
    return new Promise((resolve) => {
      const settle = (result: Acquired) => {
        clearTimeout(timer)
        options.signal?.removeEventListener('abort', leave)
        this.#room.leave(waiter)
        waiter.gone = true
        resolve(result)
      }
      const leave = () => settle({ kind: 'refused', ...(this.#closedFor() ?? waiter.why) })
      const timer = setTimeout(leave, options.timeoutMs)
      options.signal?.addEventListener('abort', leave)
      const why = { why: 'window' as const, detail: 'no slot came free' }
      const waiter: Waiter = { want, priority: want.priority, source: want.source, since: Date.now(), why, gone: false, settle }
      this.#room.enter(waiter)
      if (options.signal?.aborted) return leave()
      this.#pump()
    })
  }

  /** Gives a nonce back that nothing was signed for; one that may have been signed stays the lane's debt. */
  async giveBack(flight: Flight): Promise<void> {
    const { intentId, grantedTo } = flight
    if (!flight.unsigned || !intentId || !grantedTo) return
    this.#flights.delete(flight.nonce)
    flight.close()
    await this.#deps.ledger.ask({ kind: 'release', intentId, grantedTo })
  }

  /** Why the ledger is not even asked; undefined if it is. */
  #closedFor(): { why: Refusal; detail: string } | undefined {
    const { view } = this
    if (view?.paused) return { why: 'paused', detail: view.paused.reason }
    return view?.synced ? undefined : { why: 'unsynced', detail: 'the ledger has not answered, or not read its account, yet' }
  }

  #pump(): void {
    const { view } = this
    const height = this.#deps.chain.heads.current?.latest.height ?? 0
    if (!view || !view.synced || view.paused || height <= this.#held) return
    const latest = Math.max(view.latest, this.#account?.latestNonce ?? 0)
    const slots = view.window - (view.next - latest) - this.#asked
    for (const waiter of this.#room.take(slots, Date.now())) void this.#askFor(waiter)
  }

  async #askFor(waiter: Waiter): Promise<void> {
    const { want } = waiter
    this.#asked += 1
    const answer = await this.#deps.ledger
      .ask({ kind: 'grant', owner: want.owner, attempt: want.first })
      .catch((error: unknown) => ({ kind: 'refused' as const, why: 'conflict' as const, detail: toRelayerError(error).message }))
    this.#asked -= 1
    if (answer.kind === 'granted') {
      const flight = this.#fly(answer.entry, want)
      if (!waiter.gone) return waiter.settle({ kind: 'flight', flight })
      // Nobody waits any more and nothing is signed: the nonce goes back. If this process is stopping, the next one's try finds it held.
      return this.giveBack(flight).catch(() => {})
    }
    if (answer.kind !== 'refused' || waiter.gone) return
    if (answer.why === 'withdrawn' || answer.why === 'conflict') return waiter.settle(answer)
    waiter.why = answer
    // Asking again before the next block would get the same answer.
    this.#held = this.#deps.chain.heads.current?.latest.height ?? 0
    this.#room.enter(waiter)
  }

  #fly({ nonce, attempts, grantedTo }: Entry, want: Want): Flight {
    const { intentId } = want.owner
    const known = this.#flights.get(nonce)
    if (known && known.intentId === intentId && !known.estranged) return known
    known?.close()
    const flight = new Flight(this.#deps, nonce, attempts, { intentId, intent: want.intent, grantedTo })
    this.#flights.set(nonce, flight)
    return flight
  }

  #obey(order: FillOrder): void {
    let flight = this.#flights.get(order.nonce)
    if (!flight || flight.estranged) {
      flight?.close()
      flight = new Flight(this.#deps, order.nonce, order.attempts, undefined, flight?.offered)
      this.#flights.set(order.nonce, flight)
    }
    flight.fill(order.attempts).catch((error: unknown) => {
      this.#deps.logger.warn('a no-op could not be sent; ordered again at the next block', {
        nonce: order.nonce,
        reason: error instanceof Error ? error.message : String(error),
      })
    })
  }

  async #onBlock(event: HeadEvent): Promise<void> {
    const { chain, signer, logger, config } = this.#deps
    if (this.#reading) return
    const idle = this.#flights.size === 0 && this.#room.size === 0 && this.view?.synced && this.view.inFlight === 0
    const owesFinality = (this.view?.next ?? 0) > (this.#account?.finalizedNonce ?? 0)
    if (idle && !owesFinality && event.latest.height % idleBlocks !== 0) return
    this.#reading = true
    try {
      const unsynced = !this.view?.synced
      const [account, pending] = await Promise.all([
        chain.account(signer.address),
        unsynced ? chain.pendingNonce(signer.address) : undefined,
      ])
      this.#account = account
      for (const flight of this.#flights.values()) flight.onBlock(account.block.height, account)
      this.#observe(account, pending)
      this.#pump()
      this.#sweep()
    } catch (error) {
      logger.warn('the account could not be read; again at the next block', {
        lane: config.lane,
        reason: error instanceof Error ? error.message : String(error),
      })
    } finally {
      this.#reading = false
    }
  }

  #observe(account: Account, pending: number | undefined): void {
    const claims = [...this.#flights.values()].filter((flight) => flight.drives).map((flight) => flight.nonce)
    const { height, hash } = account.block
    const observation: Observation = {
      latest: account.latestNonce,
      finalized: account.finalizedNonce,
      height,
      hash,
      balance: account.balance,
      claims,
      since: this.#since,
      ...(pending !== undefined && { pending }),
    }
    if (!this.#worthTelling(observation)) return
    this.#sent = observation
    this.#deps.ledger.observe(observation)
  }

  #worthTelling(seen: Observation): boolean {
    const told = this.#sent
    if (!told || seen.pending !== undefined) return true
    // Only its answer tells that the lane was resumed: those who wait should not wait for something else to be told.
    if (this.#room.size > 0 && this.view?.paused) return true
    if (seen.latest !== told.latest || seen.finalized !== told.finalized) return true
    const busy = seen.claims.length > 0 || this.#room.size > 0 || (this.view?.inFlight ?? 0) > 0
    const stale = seen.height - told.height >= Math.max(1, Math.floor(this.#deps.config.fillAfterBlocks / claimsPerFill))
    return (busy && stale) || (this.#room.size > 0 && seen.balance !== told.balance)
  }

  /** Flights whose fate is final are over. */
  #sweep(): void {
    for (const [nonce, flight] of this.#flights) {
      const { state } = flight
      if (state.kind === 'spent' || (state.kind === 'included' && state.final)) {
        this.#flights.delete(nonce)
        flight.close()
      }
    }
  }
}

/** Undefined if the signal aborts before the work has ended. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
