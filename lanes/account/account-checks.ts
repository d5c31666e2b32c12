import type { Account } from '../../chains/port.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import type { LaneDeps } from '../deps.ts'
import { problemOf } from '../../observability/severity.ts'

export class AccountChecks {
  readonly #deps: LaneDeps
  /** Is this the chain that the ledger knows? `unsure`: no answer from the nodes. */
  #identity: 'unchecked' | 'unsure' | 'same' = 'unchecked'
  #witnessed = 0

  constructor(deps: LaneDeps) {
    this.#deps = deps
  }

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

  /** Are fewer nonces final than the ledger knows? Then a reorganisation went deeper than finality. */
  async isUndone({ finalizedNonce }: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const { finalized = 0, finalizedAt } = ledger.view ?? {}
    const final = chain.heads.current?.finalized ?? 0
    // Another chain proves nothing about this one.
    if (this.#identity === 'unsure' || finalizedAt === undefined || finalizedNonce >= finalized || final < finalizedAt) return false
    const agreed = await chain.agreedNonce(laneAddress(config.lane))
    if (agreed >= finalized) return false
    const counts = { code: 'EFFECT_UNDONE', lane: config.lane, final: agreed, was: finalized } as const
    logger.error('nonces that were final are not used any more; the lane goes on from the nonces of the chain', counts)
    return true
  }

  /** One node alone must not make the ledger skip nonces for good: most nodes show the last transaction or count. */
  async isWitnessed({ latestNonce }: Account): Promise<boolean> {
    const { chain, ledger, logger, config } = this.#deps
    const given = () => Math.max(ledger.view?.next ?? 0, this.#witnessed)
    if (latestNonce <= given()) return true
    // Another process may have been granted them since the last answer.
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
    logger.warn('one node counts more nonces than were given, and most nodes do not; the ledger does not learn of them', counts)
    return false
  }
}
