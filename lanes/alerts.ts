import type { LaneView } from '../domain/lane/messages.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { Logger } from '../observability/logger.ts'

/** Logs once what only an operator can repair: an empty account, a replaced chain, external use of the key. */
export class Alerts {
  readonly #lane: LaneId
  readonly #logger: Logger
  #closed: string | undefined
  #external: number | undefined

  constructor(lane: LaneId, logger: Logger) {
    this.#lane = lane
    this.#logger = logger
  }

  see({ closed, external }: LaneView): void {
    const why = closed?.why
    if (why !== this.#closed) this.#logClosed(this.#closed, closed)
    this.#closed = why
    const more = external - (this.#external ?? external)
    this.#external = external
    if (more > 0) this.#logExternalUse({ nonces: more })
  }

  /** A transaction from outside Portage used one of our nonces. */
  external(nonce: number): void {
    this.#logExternalUse({ nonce })
  }

  #logExternalUse(which: { nonces: number } | { nonce: number }): void {
    this.#logger.error('the key of this lane is used outside Portage; the lane goes on above those nonces', { lane: this.#lane, ...which })
  }

  #logClosed(before: string | undefined, now: LaneView['closed']): void {
    const about = { lane: this.#lane, ...(now && { reason: now.detail }) }
    if (now?.why === 'replaced')
      this.#logger.error('LANE_CHAIN_REPLACED: the lane is halted; run portage lane reset --chain-replaced', about)
    else if (now?.why === 'funds') this.#logger.warn('LANE_FUNDS: the lane takes no new work until its account is funded', about)
    else if (now) this.#logger.info(`the lane takes no new work: ${now.why}`, about)
    else if (before) this.#logger.info('the lane takes work again', about)
  }
}
