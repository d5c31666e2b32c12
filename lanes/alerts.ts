import type { LaneView } from '../domain/lane/messages.ts'
import type { LaneDeps } from './deps.ts'

/** Parts of the most nonces that a lane keeps: above the first an operator is told, below the second the matter is over. */
const [nearLimit, calmAgain] = [0.8, 0.7]

/** Logs once what only an operator can repair: an empty account, a replaced chain, external use of the key, finality that is too far or stands still. */
export class Alerts {
  readonly #deps: LaneDeps
  #closed: string | undefined
  /** Nonces that a transaction from outside Portage used: as the ledger counts them, and of the calls of this process. */
  #external: number | undefined
  #externalHere = 0
  #isNearLimit = false

  constructor(deps: LaneDeps) {
    this.#deps = deps
  }

  get external(): number {
    return (this.#external ?? 0) + this.#externalHere
  }

  see({ closed, external, kept, keptLimit }: LaneView): void {
    this.#seeKept(kept, keptLimit)
    const why = closed?.why
    if (why !== this.#closed) this.#logClosed(this.#closed, closed)
    this.#closed = why
    const more = external - (this.#external ?? external)
    this.#external = external
    if (more > 0) this.#logExternalUse({ nonces: more })
  }

  /** A transaction from outside Portage used one of our nonces. */
  usedExternally(nonce: number): void {
    this.#externalHere += 1
    this.#logExternalUse({ nonce })
  }

  /** Said once, and again only after it was well below. */
  #seeKept(kept: number, keptLimit: number): void {
    const { logger, config } = this.#deps
    if (kept < keptLimit * calmAgain) this.#isNearLimit = false
    if (kept < keptLimit * nearLimit || this.#isNearLimit) return
    this.#isNearLimit = true
    logger.warn('the lane keeps nearly as many nonces as it can until they are final; then it gives no more until some are', {
      code: 'LANE_KEEPS_TOO_MANY',
      ...{ lane: config.lane, kept, keptLimit },
    })
  }

  #logExternalUse(which: { nonces: number } | { nonce: number }): void {
    const { logger, config } = this.#deps
    logger.error('the key of this lane is used outside Portage; the lane goes on above those nonces', {
      code: 'KEY_USED_ELSEWHERE',
      ...{ lane: config.lane, ...which },
    })
  }

  #logClosed(before: string | undefined, now: LaneView['closed']): void {
    const { logger, config } = this.#deps
    const about = { lane: config.lane, ...(now && { reason: now.detail }) }
    if (now?.why === 'replaced') logger.error('the lane is halted: its chain was replaced', { code: 'LANE_CHAIN_REPLACED', ...about })
    else if (now?.why === 'funds') logger.warn('the lane takes no new work until its account is funded', { code: 'LANE_FUNDS', ...about })
    else if (now) logger.info(`the lane takes no new work: ${now.why}`, about)
    else if (before) logger.info('the lane takes work again', about)
  }
}
