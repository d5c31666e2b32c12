import type { Account } from '../../chains/port.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LaneDeps } from '../deps.ts'
import { problemOf } from '../../observability/severity.ts'

/** Readings of an account that one node must not decide: a replaced chain, final nonces undone, nonces that the ledger never gave. */
export class AccountChecks {
  readonly #deps: LaneDeps
  /** Is it the chain that the ledger knows? `unsure`: the nodes could not be asked. */
  #identity: 'unchecked' | 'unsure' | 'same' = 'unchecked'
  /** So many nonces are used by the word of most nodes. */
  #witnessed = 0

  constructor(deps: LaneDeps) {
    this.#deps = deps
  }

  /** Checked at the first reading, and whenever the chain shows less than the ledger knows as final. */
  async isReplaced(account: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const { view } = ledger
    if (view?.closed?.why === 'replaced') return true
    const less = account.latestNonce < (view?.finalized ?? 0) || account.block.height < (view?.final?.height ?? 0)
    if (!view?.final || (this.#identity === 'same' && !less)) return false
    const { final: block } = view
    try {
      this.#identity = 'unsure'
      const denied = await chain.denies(block)
      this.#identity = 'same'
      if (denied) await ledger.ask({ kind: 'replaced', block })
      return denied
    } catch (error) {
      logger.warn('could not check whether the chain was replaced; again at the next block', { lane: config.lane, ...problemOf(error) })
      return false
    }
  }

  /** Fewer final nonces than the ledger knows, on a chain that is final beyond where it was told of them: a reorganisation deeper than finality, no lagging node. */
  async isUndone({ finalizedNonce }: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const { finalized = 0, finalizedAt } = ledger.view ?? {}
    const final = chain.heads.current?.finalized ?? 0
    // A chain that may be another one says nothing of what is undone on this one.
    if (this.#identity === 'unsure' || finalizedAt === undefined || finalizedNonce >= finalized || final < finalizedAt) return false
    const agreed = await chain.agreedNonce(laneAddress(config.lane))
    if (agreed >= finalized) return false
    const counts = { code: 'EFFECT_UNDONE', lane: config.lane, final: agreed, was: finalized } as const
    logger.error('nonces that were final are not used any more; the lane goes on from what the chain says', counts)
    return true
  }

  /**
   * Once told of a used nonce, the ledger goes on above it for good; one node alone must not cause that. More nonces than it has given are believed if most
   * nodes show the transaction that used the last of them, or count as many in the finalized state.
   */
  async isWitnessed({ latestNonce }: Account): Promise<boolean> {
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
    const counts = { code: 'NODES_DISAGREE', lane: config.lane, counted: latestNonce, given: given() } as const
    logger.warn('one node counts more nonces than were given, and most nodes do not; the ledger is not told', counts)
    return false
  }
}
