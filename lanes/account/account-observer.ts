import type { Account, HeadEvent } from '../../chains/port.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { Observation } from '../../domain/lane/messages.ts'
import { AccountChecks } from './account-checks.ts'
import type { LaneDeps } from '../deps.ts'
import { FinalBlocks } from './final-blocks.ts'
import type { NonceRequests } from '../ledger/nonce-requests.ts'
import type { PendingTransactions } from './pending-transactions.ts'
import { problemOf } from '../../observability/severity.ts'

/** The account of a lane without work is read this seldom, blocks: for funds and for external use of its key. */
const idleBlocks = 10
/** And its ledger, where others may have ordered something, at most so often, ms: a query may cost a replay. */
const idleLookMs = 20_000
/** The account of a lane that waits for funds is read more often. */
const brokeBlocks = 2
/** While nothing changes, the ledger is told so this often in the time after which it fills a nonce that no process claims. */
const claimsPerFill = 20

/**
 * The account of a lane as one process sees it: read once per block while there is work, told to the ledger when it changes something. A lane without work
 * costs nothing; orders of others come with the ledger's next answer.
 */
export class AccountObserver {
  readonly #deps: LaneDeps
  readonly #transactions: PendingTransactions
  readonly #requests: NonceRequests
  /** As last read. */
  account: Account | undefined
  #checks: AccountChecks
  #finalBlocks = new FinalBlocks()
  #told: Observation | undefined
  #since = 0
  /** Height of the last reading. */
  #readAt = 0
  #reading = false
  #introduced = false
  #lookedAt = 0
  #unsubscribe: (() => void) | undefined

  constructor(deps: LaneDeps, transactions: PendingTransactions, requests: NonceRequests) {
    this.#deps = deps
    this.#transactions = transactions
    this.#requests = requests
    this.#checks = new AccountChecks(deps)
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
    this.account = undefined
    this.#told = undefined
    this.#finalBlocks = new FinalBlocks()
    this.#checks = new AccountChecks(this.#deps)
    this.#requests.forget()
  }

  async #onBlock(event: HeadEvent): Promise<void> {
    const { logger, config } = this.#deps
    this.#finalBlocks.see(event)
    // The chain went back: the blocks above, which were observed, are gone.
    this.#since = Math.min(this.#since, event.latest.height)
    if (this.#reading || !this.#isTime(event.latest.height)) return
    this.#reading = true
    this.#readAt = event.latest.height
    try {
      await this.#read()
    } catch (error) {
      logger.warn('the account could not be read; again at the next block', { lane: config.lane, ...problemOf(error) })
    } finally {
      this.#reading = false
    }
  }

  #isTime(height: number): boolean {
    const { view } = this.#deps.ledger
    const isAfter = (blocks: number) => height - this.#readAt >= blocks || height < this.#readAt
    // Only the ledger knows when an operator has reset it.
    if (view?.closed?.why === 'replaced') return isAfter(idleBlocks)
    const owesFinality = (view?.next ?? 0) > (this.account?.finalizedNonce ?? 0)
    if (this.#hasWork || !view?.synced || owesFinality) return true
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
    this.account = account
    this.#transactions.onAccount(account)
    this.#requests.onAccount(account)
    this.#transactions.sweep()
    if (await this.#checks.isWitnessed(account)) this.#tell(account, pendingNonce, undone)
  }

  get #hasWork(): boolean {
    return this.#transactions.size > 0 || this.#requests.waiting > 0 || (this.#deps.ledger.view?.inFlight ?? 0) > 0
  }

  async #lookIfIdle(): Promise<void> {
    const { ledger } = this.#deps
    if (this.#hasWork || !ledger.view?.synced || !this.#told || Date.now() - this.#lookedAt < idleLookMs) return
    this.#lookedAt = Date.now()
    await ledger.look()
  }

  #tell(account: Account, pending: number | undefined, undone: boolean): void {
    const { height, hash } = account.block
    const final = this.#finalBlocks.due(this.#deps.ledger.view?.final)
    const observation: Observation = {
      latest: account.latestNonce,
      finalized: account.finalizedNonce,
      height,
      hash,
      balance: account.balance,
      claims: this.#transactions.claims,
      since: this.#since,
      ...(final && { final }),
      ...(pending !== undefined && { pending }),
      ...(undone && { undone }),
    }
    if (!this.#isWorthTelling(observation)) return
    this.#told = observation
    if (final) this.#finalBlocks.told(final)
    this.#deps.ledger.observe(observation)
    this.#requests.onTold()
  }

  #isWorthTelling(seen: Observation): boolean {
    const told = this.#told
    const { view, hasOrders } = this.#deps.ledger
    if (!told || seen.pending !== undefined || seen.final || seen.undone) return true
    if (seen.latest !== told.latest || seen.finalized !== told.finalized) return true
    const { waiting } = this.#requests
    const busy = seen.claims.length > 0 || waiting > 0 || (view?.inFlight ?? 0) > 0
    const every = Math.max(1, Math.floor(this.#deps.config.fillAfterBlocks / claimsPerFill))
    const stale = seen.height < told.height || seen.height - told.height >= every
    if (busy && (stale || hasOrders)) return true
    const forFunds = waiting > 0 || view?.closed?.why === 'funds'
    return forFunds && seen.balance !== told.balance
  }
}
