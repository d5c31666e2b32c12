import type { Account, Chain, HeadEvent } from '../chains/port.ts'
import { laneAddress } from '../domain/lane/lane-id.ts'
import type { FinalBlock, LaneConfig } from '../domain/lane/lane.ts'
import type { Observation } from '../domain/lane/messages.ts'
import type { Logger } from '../observability/logger.ts'
import { FinalBlocks } from './final-blocks.ts'
import type { LedgerClient } from './ledger-client.ts'

/** A lane without work is looked at this seldom, blocks: for funds and for foreign use of its key. */
const idleBlocks = 10
/** And its ledger, which others may have ordered to look anew, at most so often, ms: a look may cost a replay. */
const idleLookMs = 20_000
/** A lane that waits for funds is looked at more often. */
const brokeBlocks = 2
/** While nothing moves, the ledger is told so this often in the time after which it fills a nonce that nobody claims. */
const claimsPerFill = 20

/** What a process has to do with a lane at a moment. */
export interface Work {
  /** Nonces that it drives. */
  readonly claims: readonly number[]
  /** Flights that it keeps, in blocks or not, and calls that wait. */
  readonly flying: number
  readonly waiting: number
}

/**
 * The account of a lane as one process sees it: read once per block when it matters, told to the ledger when it changes something. A ledger
 * whose chain was replaced is told so, before anything else.
 *
 * What others order of the ledger (a cancel, an operator's fill) comes with the next answer: at the latest after a twentieth of
 * `fillAfterBlocks`, as long as something is in flight. A lane without work costs nothing.
 */
export class AccountObserver {
  readonly #deps: { chain: Chain; ledger: LedgerClient; logger: Logger; config: LaneConfig }
  readonly #work: () => Work
  #finals = new FinalBlocks()
  #account: Account | undefined
  #sent: Observation | undefined
  #since = 0
  /** Height of the last reading. */
  #readAt = 0
  #reading = false
  #introduced = false
  #lookedAt = 0
  /** What this process has told the ledger of final blocks. */
  #final: FinalBlock | undefined
  #recognised = false
  /** Whether the chain is still the same could not be asked. */
  #doubted = false
  /** So many nonces are used, as most of the nodes say. */
  #witnessed = 0
  #unsubscribe: (() => void) | undefined
  /** After each reading, before the ledger is told. */
  onAccount: (account: Account) => void = () => {}

  constructor(deps: { chain: Chain; ledger: LedgerClient; logger: Logger; config: LaneConfig }, work: () => Work) {
    this.#deps = deps
    this.#work = work
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
    this.#sent = undefined
    this.#recognised = false
    this.#witnessed = 0
    this.#final = undefined
    this.#finals = new FinalBlocks()
  }

  async #onBlock(event: HeadEvent): Promise<void> {
    this.#finals.see(event)
    // A chain that went back: what was watched above is of blocks that are gone.
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
    // Only the ledger knows when an operator has reset it.
    if (view?.closed?.why === 'replaced') return height - this.#readAt >= idleBlocks || height < this.#readAt
    const { flying, waiting } = this.#work()
    const owesFinality = (view?.next ?? 0) > (this.#account?.finalizedNonce ?? 0)
    if (flying > 0 || waiting > 0 || !view?.synced || view.inFlight > 0 || owesFinality) return true
    return height - this.#readAt >= (view.closed?.why === 'funds' ? brokeBlocks : idleBlocks) || height < this.#readAt
  }

  async #read(): Promise<void> {
    const { chain, ledger, config } = this.#deps
    // The ledger's word first: it may know another chain than this one.
    if (!this.#introduced || ledger.view?.closed?.why === 'replaced') await ledger.introduce()
    this.#introduced = true
    await this.#lookIfIdle()
    // Also at the first look: a ledger that was restored from an older copy may have forgotten what is in the pool.
    const unsynced = !ledger.view?.synced || !this.#sent
    const address = laneAddress(config.lane)
    const [account, pending] = await Promise.all([chain.account(address), unsynced ? chain.pendingNonce(address) : undefined])
    if (await this.#isReplaced(account)) return
    const undone = await this.#isUndone(account)
    this.#account = account
    this.onAccount(account)
    if (await this.#isWitnessed(account)) this.#tell(account, pending, undone)
  }

  async #lookIfIdle(): Promise<void> {
    const { ledger } = this.#deps
    const { flying, waiting } = this.#work()
    const idle = flying === 0 && waiting === 0 && ledger.view?.synced && ledger.view.inFlight === 0
    if (!idle || !this.#sent || Date.now() - this.#lookedAt < idleLookMs) return
    this.#lookedAt = Date.now()
    await ledger.look()
  }

  /**
   * More nonces are used than the ledger has given: once it is told, it goes on above them for good, which is not for one node to say. Either most of
   * the nodes show the transaction that used the last of them, or they count as many in the finalized state.
   */
  async #isWitnessed({ latestNonce }: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const given = () => Math.max(ledger.view?.next ?? 0, this.#witnessed)
    if (latestNonce <= given()) return true
    // Another process may have been given them since this one heard of the ledger.
    await ledger.introduce()
    if (latestNonce <= given()) return true
    const address = laneAddress(config.lane)
    const [mined, agreed] = await Promise.allSettled([chain.mined(address, latestNonce - 1), chain.agreedNonce(address)])
    const shown = mined.status === 'fulfilled' && mined.value !== undefined
    if (shown || (agreed.status === 'fulfilled' && agreed.value >= latestNonce)) {
      this.#witnessed = latestNonce
      return true
    }
    logger.warn('one node counts more nonces than were given, and not most of them; the ledger is told nothing of it', {
      lane: config.lane,
      counted: latestNonce,
      given: given(),
    })
    return false
  }

  /**
   * Fewer final nonces than the ledger knows, on a chain that is final beyond where it was told of them: no node lags, what was final is gone
   * (a reorganisation deeper than finality). The ledger goes on from there; an audit finds the transfers.
   */
  async #isUndone({ finalizedNonce }: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const { finalized = 0, height, finalizedAt = height } = ledger.view ?? {}
    const final = chain.heads.current?.finalized ?? 0
    // A chain that may be another one says nothing of what is undone on this one.
    if (this.#doubted || finalizedAt === undefined || finalizedNonce >= finalized || final < finalizedAt) return false
    const agreed = await chain.agreedNonce(laneAddress(config.lane))
    if (agreed >= finalized) return false
    logger.error('EFFECT_UNDONE: nonces that were final are not used any more; the lane goes on from what the chain says', {
      lane: config.lane,
      final: agreed,
      was: finalized,
    })
    return true
  }

  /** At the first look, and whenever the chain shows less than the ledger knows as final. */
  async #isReplaced(account: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const { view } = ledger
    if (view?.closed?.why === 'replaced') return true
    const less = account.latestNonce < (view?.finalized ?? 0) || account.block.height < (view?.final?.height ?? 0)
    if (!view?.final || (this.#recognised && !less)) return false
    const { final: block } = view
    try {
      this.#doubted = true
      const denied = await chain.denies(block)
      this.#doubted = false
      this.#recognised = true
      if (denied) await ledger.ask({ kind: 'replaced', block })
      return denied
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn('whether the chain is still the same could not be asked; again at the next block', { lane: config.lane, reason })
      return false
    }
  }

  #tell(account: Account, pending: number | undefined, undone: boolean): void {
    const { height, hash } = account.block
    const final = this.#finals.due(this.#deps.ledger.view?.final ?? this.#final)
    const observation: Observation = {
      latest: account.latestNonce,
      finalized: account.finalizedNonce,
      height,
      hash,
      balance: account.balance,
      claims: this.#work().claims,
      since: this.#since,
      ...(final && { final }),
      ...(pending !== undefined && { pending }),
      ...(undone && { undone }),
    }
    if (!this.#worthTelling(observation)) return
    this.#sent = observation
    if (final) {
      this.#final = final
      this.#finals.told()
    }
    this.#deps.ledger.observe(observation)
  }

  #worthTelling(seen: Observation): boolean {
    const told = this.#sent
    const { view, hasOrders } = this.#deps.ledger
    if (!told || seen.pending !== undefined || seen.final || seen.undone) return true
    if (seen.latest !== told.latest || seen.finalized !== told.finalized) return true
    const { waiting } = this.#work()
    const busy = seen.claims.length > 0 || waiting > 0 || (view?.inFlight ?? 0) > 0
    const every = Math.max(1, Math.floor(this.#deps.config.fillAfterBlocks / claimsPerFill))
    const stale = seen.height < told.height || seen.height - told.height >= every
    if (busy && (stale || hasOrders)) return true
    const forFunds = waiting > 0 || view?.closed?.why === 'funds'
    return forFunds && seen.balance !== told.balance
  }
}
