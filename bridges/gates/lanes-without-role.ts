import type { Endpoint } from '../port.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { BridgeName } from '../../domain/transfer/transfer.ts'
import { laneAddress, type LaneId, type PauseReason } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'

/** Minimum time (ms) between two orders for a lane, because a cached status is up to 5 s old. */
const orderAgainMs = 10_000
/** Interval (ms) at which all lanes are listed, to find lanes that a process paused before it ended. */
const statusesMs = 60_000

export function unauthorizedReason(reasons: readonly string[]): string {
  return `BRIDGE_ROLE_MISSING: ${reasons.join('; ')}; Portage resumes the lane by itself`
}

export interface LanesWithoutRoleOptions {
  readonly endpoints: ReadonlyMap<BridgeName, Pick<Endpoint, 'unauthorized'>>
  readonly lanes: { status(lane: LaneId): Promise<LaneStatus>; statuses(): Promise<LaneStatus[]> }
  readonly pauses: { pause(lane: LaneId, pause: PauseReason): Promise<void>; resume(lane: LaneId, pause: PauseReason): Promise<void> }
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'portage_lane_unauthorized'>
  readonly clock?: () => number
}

/** Pauses a lane whose key may deliver for no bridge of its chain, until the key gets a role. */
export class LanesWithoutRole {
  readonly #options: LanesWithoutRoleOptions
  readonly #clock: () => number
  readonly #watched = new Map<LaneId, number>()
  #listedAt = -Infinity

  constructor(options: LanesWithoutRoleOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
  }

  add(lane: LaneId): void {
    if (this.#watched.has(lane)) return
    this.#watched.set(lane, -Infinity)
    this.#options.logger.error('the lane may not deliver for a bridge; its transfers go to other lanes', {
      code: 'BRIDGE_ROLE_MISSING',
      lane,
    })
  }

  async check(): Promise<void> {
    if (this.#clock() - this.#listedAt >= statusesMs) {
      this.#listedAt = this.#clock()
      const statuses = await this.#options.lanes.statuses()
      for (const { lane, pause } of statuses) if (pause === 'unauthorized') this.add(lane)
    }
    for (const lane of [...this.#watched.keys()]) {
      await this.#check(lane).catch((error: unknown) => {
        this.#options.logger.debug('a lane without a role could not be checked', { lane, reason: toRelayerError(error).message })
      })
    }
  }

  async #check(lane: LaneId): Promise<void> {
    const { endpoints, lanes, pauses, metrics, logger } = this.#options
    const answers = await Promise.all(
      [...endpoints].map(async ([bridge, { unauthorized }]) => ({ bridge, unauthorized: await unauthorized?.(laneAddress(lane)) })),
    )
    for (const { bridge, unauthorized } of answers) metrics.portage_lane_unauthorized.set({ lane, bridge }, unauthorized ? 1 : 0)
    const reasons = answers.flatMap(({ unauthorized }) => (unauthorized?.everywhere ? [unauthorized.reason] : []))
    const useless = reasons.length === answers.length
    const status = await lanes.status(lane)
    const paused = status.pause === 'unauthorized'
    const pause = { kind: 'unauthorized', reason: unauthorizedReason(reasons) } as const
    if (useless && status.open) await this.#order(lane, () => pauses.pause(lane, pause))
    if (!useless && paused) await this.#order(lane, () => pauses.resume(lane, { kind: 'unauthorized', reason: 'the key has a role again' }))
    if (paused || answers.some(({ unauthorized }) => unauthorized)) return
    this.#watched.delete(lane)
    logger.info('the lane now has the role that was missing', { lane })
  }

  async #order(lane: LaneId, give: () => Promise<void>): Promise<void> {
    if (this.#clock() - (this.#watched.get(lane) ?? 0) < orderAgainMs) return
    this.#watched.set(lane, this.#clock())
    await give()
  }
}
