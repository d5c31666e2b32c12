import type { LaneView } from '../domain/lane/messages.ts'
import type { LaneDeps } from './deps.ts'

/** Shares of the most nonces that a lane keeps: warned above the first, over below the second. */
const [warnAbove, overBelow] = [0.8, 0.7]

/** Logs once each problem that only an operator can repair. */
export class Alerts {
  readonly #deps: LaneDeps
  #closed: string | undefined
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

  usedExternally(nonce: number): void {
    this.#externalHere += 1
    this.#logExternalUse({ nonce })
  }

  #seeKept(kept: number, keptLimit: number): void {
    const { logger, config } = this.#deps
    if (kept < keptLimit * overBelow) this.#isNearLimit = false
    if (kept < keptLimit * warnAbove || this.#isNearLimit) return
    this.#isNearLimit = true
    logger.warn('the lane keeps nearly as many unfinal nonces as it can; at the limit it grants no more until some are final', {
      code: 'LANE_KEEPS_TOO_MANY',
      ...{ lane: config.lane, kept, keptLimit },
    })
  }

  #logExternalUse(which: { nonces: number } | { nonce: number }): void {
    const { logger, config } = this.#deps
    logger.error('the key of this lane is used outside Portage; the lane continues above those nonces', {
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
