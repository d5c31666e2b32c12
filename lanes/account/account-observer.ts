import type { Account, BlockRef, HeadEvent } from '../../chains/port.ts'
import { untriedMs } from '../../domain/lane/entries.ts'
import { laneAddress, largestWindow } from '../../domain/lane/lane.ts'
import type { Observation } from '../../domain/lane/messages.ts'
import type { LaneDeps } from '../deps.ts'
import type { NonceRequests } from '../ledger/nonce-requests.ts'
import type { PendingTransactions } from './pending-transactions.ts'
import { problemOf } from '../../observability/severity.ts'

/** Blocks between reads of an idle lane's account. The reads show new funds, and use of the key outside Portage. */
const idleBlocks = 10
/** Interval of queries to the ledger while the lane has no work, ms. It is long, because a query may cost a replay. */
const idleQueryMs = 20_000
const brokeBlocks = 2
/** Number of reports per `fillAfterBlocks` blocks. The lane fills a nonce that no report names during these blocks. */
const claimsPerFill = 20

/**
 * Later reports name a final block only once this many newer blocks are final. A reorg of final blocks removes fewer
 * blocks. The first report names the newest final block.
 */
const oldEnough = 1_000

export class AccountObserver {
  readonly #deps: LaneDeps
  readonly #transactions: PendingTransactions
  readonly #requests: NonceRequests
  account: Account | undefined
  #checks: ReturnType<typeof createAccountChecks>
  #finalBlocks = createFinalBlocks()
  #reported: Observation | undefined
  #since = 0
  #readAt = 0
  #reading = false
  #introduced = false
  #queriedAt = -Infinity
  #reportedAt = -Infinity
  #unsubscribe: (() => void) | undefined

  constructor(deps: LaneDeps, transactions: PendingTransactions, requests: NonceRequests) {
    this.#deps = deps
    this.#transactions = transactions
    this.#requests = requests
    this.#checks = createAccountChecks(deps)
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

  forget(): void {
    this.account = undefined
    this.#reported = undefined
    this.#finalBlocks = createFinalBlocks()
    this.#checks = createAccountChecks(this.#deps)
    this.#requests.forget()
  }

  async #onBlock(event: HeadEvent): Promise<void> {
    this.#finalBlocks.see(event)
    this.#since = Math.min(this.#since, event.latest.height)
    if (this.#reading || !this.#isTime(event.latest.height)) return
    this.#reading = true
    this.#readAt = event.latest.height
    try {
      await this.#read()
    } catch (error) {
      this.#deps.logger.warn('the account could not be read; trying again at the next block', problemOf(error))
    } finally {
      this.#reading = false
    }
  }

  #isTime(height: number): boolean {
    const { view } = this.#deps.ledger
    const isAfter = (blocks: number) => height - this.#readAt >= blocks || height < this.#readAt
    // On a replaced chain, reads are rare, because each read first asks the ledger whether an operator has reset the
    // lane.
    if (view?.closed?.why === 'replaced') return isAfter(idleBlocks)
    const owesFinality = (view?.next ?? 0) > (this.account?.finalizedNonce ?? 0)
    if (this.#hasWork || !view?.synced || owesFinality) return true
    return isAfter(view.closed?.why === 'funds' ? brokeBlocks : idleBlocks)
  }

  async #read(): Promise<void> {
    const { chain, ledger, config } = this.#deps
    // The ledger's last final block must be known first, because it shows whether the chain is still the same.
    if (!this.#introduced || ledger.view?.closed?.why === 'replaced') await ledger.introduce()
    this.#introduced = true
    if (!this.#hasWork && ledger.view?.synced && this.#reported && performance.now() - this.#queriedAt >= idleQueryMs) {
      this.#queriedAt = performance.now()
      await ledger.query()
    }
    // A restored ledger may lack transactions in the pool, so it counts as unsynced until it has this process's report.
    const unsynced = !ledger.view?.synced || !this.#reported
    const address = laneAddress(config.lane)
    const [account, pendingNonce] = await Promise.all([chain.account(address), unsynced ? nextNonce(this.#deps) : undefined])
    if (await this.#checks.isReplaced(account)) return
    const undone = await this.#checks.isUndone(account)
    this.account = account
    this.#transactions.onAccount(account)
    this.#requests.onAccount(account)
    this.#transactions.sweep()
    if (await this.#checks.isWitnessed(account)) this.#report(account, pendingNonce, undone)
  }

  get #hasWork(): boolean {
    return this.#transactions.size > 0 || this.#requests.waiting > 0 || (this.#deps.ledger.view?.inFlight ?? 0) > 0
  }

  #report(account: Account, pending: number | undefined, undone: boolean): void {
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
    if (!this.#isWorthReporting(observation)) return
    this.#reported = observation
    this.#reportedAt = performance.now()
    if (final) this.#finalBlocks.reported(final)
    this.#deps.ledger.observe(observation)
    this.#requests.onReported()
  }

  #isWorthReporting(seen: Observation): boolean {
    const reported = this.#reported
    const { view, hasOrders } = this.#deps.ledger
    if (!reported || seen.pending !== undefined || seen.final || seen.undone) return true
    if (seen.latest !== reported.latest || seen.finalized !== reported.finalized) return true
    const { waiting } = this.#requests
    const busy = seen.claims.length > 0 || waiting > 0 || (view?.inFlight ?? 0) > 0
    const every = Math.max(1, Math.floor(this.#deps.config.fillAfterBlocks / claimsPerFill))
    const stale = seen.height < reported.height || seen.height - reported.height >= every
    if (busy && (stale || hasOrders)) return true
    const forFunds = waiting > 0 || view?.closed?.why === 'funds'
    // The ledger forgets an old refused call only at a report.
    return forFunds && (seen.balance !== reported.balance || performance.now() - this.#reportedAt >= untriedMs)
  }
}

/**
 * The nonce after the account's last transaction in a pool. Nodes do not count a transaction behind a missing nonce as
 * pending. A new or restored ledger does not know such a transaction either, but the key's process has recorded its
 * nonce.
 */
async function nextNonce({ chain, signedBelow, config }: LaneDeps): Promise<number> {
  const pending = await chain.pendingNonce(laneAddress(config.lane))
  // A higher nonce is of a chain that was replaced.
  return Math.max(pending, ((await signedBelow(pending + largestWindow)) ?? -1) + 1)
}

function createFinalBlocks() {
  const seen = new Map<number, string>()
  let newest: BlockRef | undefined
  let candidate: BlockRef | undefined
  let last: BlockRef | undefined
  return {
    see({ applied, rolledBack, latest, finalized }: HeadEvent): void {
      for (const { height } of rolledBack) seen.delete(height)
      for (const { height, hash } of [...applied, latest]) seen.set(height, hash)
      for (const [height, hash] of seen) {
        if (height > finalized) continue
        if (height >= (newest?.height ?? 0)) newest = { height, hash }
        candidate ??= { height, hash }
        seen.delete(height)
      }
    },
    due(known = last): BlockRef | undefined {
      if (!known || !newest || !candidate) return newest
      return candidate.height > known.height && newest.height - candidate.height >= oldEnough ? candidate : undefined
    },
    reported(block: BlockRef): void {
      last = block
      candidate = newest
    },
  }
}

function createAccountChecks({ chain, ledger, logger, config }: LaneDeps) {
  const address = laneAddress(config.lane)
  /** Whether this is the chain that the ledger knows. `unsure`: the nodes have not answered yet. */
  let identity: 'unchecked' | 'unsure' | 'same' = 'unchecked'
  let witnessed = 0

  async function isReplaced(account: Account): Promise<boolean> {
    const { view } = ledger
    if (view?.closed?.why === 'replaced') return true
    const less = account.latestNonce < (view?.finalized ?? 0) || account.block.height < (view?.final?.height ?? 0)
    if (!view?.final || (identity === 'same' && !less)) return false
    const { final: block } = view
    try {
      identity = 'unsure'
      const denied = await chain.denies(block)
      identity = 'same'
      if (denied) await ledger.ask({ kind: 'replaced', block })
      return denied
    } catch (error) {
      logger.warn('could not check whether the chain was replaced; trying again at the next block', problemOf(error))
      return false
    }
  }

  async function isUndone({ finalizedNonce }: Account): Promise<boolean> {
    const { finalized: was = 0, finalizedAt } = ledger.view ?? {}
    const height = chain.heads.current?.finalized ?? 0
    // Nonces prove nothing while another chain may answer.
    if (identity === 'unsure' || finalizedAt === undefined || finalizedNonce >= was || height < finalizedAt) return false
    const final = await chain.agreedNonce(address)
    if (final >= was) return false
    logger.error('nonces that were final are no longer used; the lane continues with the nonces of the chain', {
      code: 'EFFECT_UNDONE',
      final,
      was,
    })
    return true
  }

  /**
   * Whether the account's nonce can be believed: the ledger granted the nonces below it, or the nodes show them as
   * used. Without this check, one node's false nonce would make the lane skip nonces.
   */
  async function isWitnessed({ latestNonce: counted }: Account): Promise<boolean> {
    const given = () => Math.max(ledger.view?.next ?? 0, witnessed)
    if (counted <= given()) return true
    await ledger.introduce()
    if (counted <= given()) return true
    const [mined, agreed] = await Promise.allSettled([chain.mined(address, counted - 1), chain.agreedNonce(address)])
    const shown = mined.status === 'fulfilled' && mined.value !== undefined
    if (shown || (agreed.status === 'fulfilled' && agreed.value >= counted)) {
      witnessed = counted
      return true
    }
    logger.warn('a node counts more nonces than the ledger granted, and most nodes do not; they are not reported to the ledger', {
      code: 'NODES_DISAGREE',
      counted,
      given: given(),
    })
    return false
  }

  return { isReplaced, isUndone, isWitnessed }
}
