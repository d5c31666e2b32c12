import type { Account, HeadEvent } from '../chains/port.ts'
import { laneAddress } from '../domain/lane/lane-id.ts'
import type { FinalBlock } from '../domain/lane/lane.ts'
import type { Observation } from '../domain/lane/messages.ts'
import { AccountChecks, type AccountChecksDeps } from './account-checks.ts'
import { FinalBlocks } from './final-blocks.ts'

/** The account of a lane without work is read this seldom, blocks: for funds and for external use of its key. */
const idleBlocks = 10
/** And its ledger, where others may have ordered something, at most so often, ms: a query may cost a replay. */
const idleLookMs = 20_000
/** The account of a lane that waits for funds is read more often. */
const brokeBlocks = 2
/** While nothing changes, the ledger is told so this often in the time after which it fills a nonce that no process claims. */
const claimsPerFill = 20

/** What a process has to do with a lane at a moment. */
export interface LaneWork {
  /** Nonces that it drives. */
  readonly claims: readonly number[]
  /** How many transactions it keeps, in blocks or not. */
  readonly pending: number
  /** How many calls wait for a nonce. */
  readonly waiting: number
}

export interface AccountListener {
  work(): LaneWork
  /** After each reading, before the ledger is told. */
  onAccount(account: Account): void
}

/**
 * The account of a lane as one process sees it: read once per block while there is work, told to the ledger when it changes something. A ledger
 * whose chain was replaced is told so, before anything else.
 *
 * Orders of others (a cancel, an operator's fill) come with the ledger's next answer: at the latest after a twentieth of `fillAfterBlocks`, as long
 * as something is in flight. A lane without work costs nothing.
 */
export class AccountObserver {
  readonly #deps: AccountChecksDeps
  readonly #listener: AccountListener
  readonly #checks: AccountChecks
  #finalBlocks = new FinalBlocks()
  #account: Account | undefined
  /** The last observation that the ledger was told. */
  #told: Observation | undefined
  /** The last final block that the ledger was told. */
  #toldFinal: FinalBlock | undefined
  #since = 0
  /** Height of the last reading. */
  #readAt = 0
  #reading = false
  #introduced = false
  #lookedAt = 0
  #unsubscribe: (() => void) | undefined

  constructor(deps: AccountChecksDeps, listener: AccountListener) {
    this.#deps = deps
    this.#listener = listener
    this.#checks = new AccountChecks(deps)
  }

  get account(): Account | undefined {
    return this.#account
  }

  start(): void {
    const { heads } = this.#deps.chain
    this.#since = heads.current?.latest.height ?? 0
    this.#unsubscribe = heads.subscribe((event) => void this.#onBlock(event))
    if (heads.current) void this.#onBlock(heads.current)
  }

  stop(): void {
    this.#unsubscribe?.()
  }

  /** The ledger began anew: what was told and seen before is void. */
  forget(): void {
    this.#account = undefined
    this.#told = undefined
    this.#toldFinal = undefined
    this.#finalBlocks = new FinalBlocks()
    this.#checks.forget()
  }

  async #onBlock(event: HeadEvent): Promise<void> {
    this.#finalBlocks.see(event)
    // The chain went back: the blocks above, which were observed, are gone.
    this.#since = Math.min(this.#since, event.latest.height)
    if (this.#reading || !this.#isTime(event.latest.height)) return
    this.#reading = true
    this.#readAt = event.latest.height
    try {
      await this.#read()
    } catch (error) {
      this.#deps.logger.warn('the account could not be read; again at the next block', {
        lane: this.#deps.config.lane,
        reason: error instanceof Error ? error.message : String(error),
      })
    } finally {
      this.#reading = false
    }
  }

  #isTime(height: number): boolean {
    const { view } = this.#deps.ledger
    const isAfter = (blocks: number) => height - this.#readAt >= blocks || height < this.#readAt
    // Only the ledger knows when an operator has reset it.
    if (view?.closed?.why === 'replaced') return isAfter(idleBlocks)
    const { pending, waiting } = this.#listener.work()
    const owesFinality = (view?.next ?? 0) > (this.#account?.finalizedNonce ?? 0)
    if (pending > 0 || waiting > 0 || !view?.synced || view.inFlight > 0 || owesFinality) return true
    return isAfter(view.closed?.why === 'funds' ? brokeBlocks : idleBlocks)
  }

  async #read(): Promise<void> {
    const { chain, ledger, config } = this.#deps
    // The ledger is asked first: it may know another chain than this one.
    if (!this.#introduced || ledger.view?.closed?.why === 'replaced') await ledger.introduce()
    this.#introduced = true
    await this.#lookIfIdle()
    // Also at the first reading: a ledger that was restored from an older copy may have forgotten what is in the pool.
    const unsynced = !ledger.view?.synced || !this.#told
    const address = laneAddress(config.lane)
    const [account, pendingNonce] = await Promise.all([chain.account(address), unsynced ? chain.pendingNonce(address) : undefined])
    if (await this.#checks.isReplaced(account)) return
    const undone = await this.#checks.isUndone(account)
    this.#account = account
    this.#listener.onAccount(account)
    if (await this.#checks.isWitnessed(account)) this.#tell(account, pendingNonce, undone)
  }

  async #lookIfIdle(): Promise<void> {
    const { ledger } = this.#deps
    const { pending, waiting } = this.#listener.work()
    const idle = pending === 0 && waiting === 0 && ledger.view?.synced && ledger.view.inFlight === 0
    if (!idle || !this.#told || Date.now() - this.#lookedAt < idleLookMs) return
    this.#lookedAt = Date.now()
    await ledger.look()
  }

  #tell(account: Account, pending: number | undefined, undone: boolean): void {
    const { height, hash } = account.block
    const final = this.#finalBlocks.due(this.#deps.ledger.view?.final ?? this.#toldFinal)
    const observation: Observation = {
      latest: account.latestNonce,
      finalized: account.finalizedNonce,
      height,
      hash,
      balance: account.balance,
      claims: this.#listener.work().claims,
      since: this.#since,
      ...(final && { final }),
      ...(pending !== undefined && { pending }),
      ...(undone && { undone }),
    }
    if (!this.#isWorthTelling(observation)) return
    this.#told = observation
    if (final) {
      this.#toldFinal = final
      this.#finalBlocks.told()
    }
    this.#deps.ledger.observe(observation)
  }

  #isWorthTelling(seen: Observation): boolean {
    const told = this.#told
    const { view, hasOrders } = this.#deps.ledger
    if (!told || seen.pending !== undefined || seen.final || seen.undone) return true
    if (seen.latest !== told.latest || seen.finalized !== told.finalized) return true
    const { waiting } = this.#listener.work()
    const busy = seen.claims.length > 0 || waiting > 0 || (view?.inFlight ?? 0) > 0
    const every = Math.max(1, Math.floor(this.#deps.config.fillAfterBlocks / claimsPerFill))
    const stale = seen.height < told.height || seen.height - told.height >= every
    if (busy && (stale || hasOrders)) return true
    const forFunds = waiting > 0 || view?.closed?.why === 'funds'
    return forFunds && seen.balance !== told.balance
  }
}
