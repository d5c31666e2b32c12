import { view } from '../../domain/lane/view.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type { ApplyResponse, Ask, KnownLedger, LaneAnswer, LaneRequest, LaneView, Observation } from '../../domain/lane/messages.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { CoalescingUpdates } from '../../temporal/client/calls/coalescing-updates.ts'
import { applyToLane, queryPagedLane } from '../../temporal/client/lanes/lanes.ts'
import { recordSigned } from '../../temporal/client/lanes/operator-transactions.ts'
import type { SignedHash } from '../../temporal/contracts/operator-transaction.ts'

interface LedgerClientOptions {
  readonly client: TemporalClient
  readonly config: LaneConfig
  readonly logger: Logger
  readonly updatesPerRun?: number
}

type LedgerListener = (response: Omit<ApplyResponse, 'answers'>) => void

/** Maximum requests per update, which keeps the payload of an update far below the server's limits. */
const requestsPerUpdate = 64

/**
 * Pauses (ms) after an update that asked for no nonce, for one, and for several. Requests in the pause share the next
 * update.
 */
const spacingsMs = [0, 200, 500]

/** Sends one process's requests and reports to the ledger, one update at a time. Retries until `close` is called. */
export class LedgerClient {
  view: LaneView | undefined
  hasOrders = false
  readonly #options: LedgerClientOptions
  readonly #updates: CoalescingUpdates<LaneRequest, ApplyResponse>
  readonly #listeners = new Set<LedgerListener>()
  #observation: Observation | undefined
  #known: KnownLedger | undefined
  #run = ''

  constructor(options: LedgerClientOptions) {
    const { client, config, logger, updatesPerRun } = options
    const start = { config, ...(updatesPerRun && { updatesPerRun }) }
    this.#options = options
    this.#updates = new CoalescingUpdates({
      fits: (requests) => requests.length <= requestsPerUpdate,
      build: (requests) => {
        const observe = this.#observation
        this.#observation = undefined
        const update = { requests, run: this.#run, ...(observe && { observe }), ...(this.#known && { known: this.#known }) }
        return (updateId) => applyToLane(client, config.lane, update, { start, updateId })
      },
      onResponse: (response) => this.#onResponse(response),
      spacingMs,
      unreachable: 'LANE_UNREACHABLE',
      facts: { lane: config.lane },
      logger,
    })
  }

  subscribe(listener: LedgerListener): void {
    this.#listeners.add(listener)
  }

  async introduce(): Promise<void> {
    await this.ask({ kind: 'configure', config: this.#options.config }).catch(() => {})
  }

  /** Records an operator transaction's hash in its workflow, before sending. Throws TEMPORAL_UNAVAILABLE. */
  recordSigned(intentId: string, signed: SignedHash & { nonce: number }): Promise<void> {
    return recordSigned(this.#options.client, intentId, signed)
  }

  /**
   * Reads the ledger, to find operators' orders while the lane has no work. Sends a query, because an update would add
   * to the history.
   */
  async query(): Promise<void> {
    const { client, config } = this.#options
    try {
      const state = await queryPagedLane(client, config.lane)
      if (this.#updates.busy || this.#updates.closed) return
      this.#see({ view: view(state), orders: [], raises: [] })
    } catch {
      // The ledger is missing or does not answer. The next update starts the ledger, or waits for its answer.
    }
  }

  /** Throws LANE_UNREACHABLE only after `close`, and INTERNAL if the ledger refuses the request as malformed. */
  ask(ask: Ask): Promise<LaneAnswer>
  /** If `isStale` returns true right before sending, nothing is sent, and the answer is undefined. */
  ask(ask: Ask, isStale: () => boolean): Promise<LaneAnswer | undefined>
  async ask(ask: Ask, isStale = () => false): Promise<LaneAnswer | undefined> {
    const response = await this.#updates.ask([{ ...ask, id: this.#updates.nextId() }], isStale)
    return response && (response.answers[0] ?? { kind: 'done' })
  }

  observe(observation: Observation): void {
    this.#observation = observation
    this.#updates.flush()
  }

  /** Requests without an answer fail with LANE_UNREACHABLE. Their transfers ask again in another process. */
  close(): void {
    this.#updates.close()
  }

  #onResponse(response: ApplyResponse): void {
    const { era, granted, next, finalized, run = '' } = response.view
    this.#run = run
    // A ledger that was set back knows fewer grants. Updates carry the known grants until the ledger has caught up.
    if (this.#known?.era !== era || granted >= this.#known.granted) this.#known = { era, granted, next, finalized }
    this.hasOrders = response.orders.length + response.raises.length > 0
    this.#see(response)
  }

  #see(response: Omit<ApplyResponse, 'answers'>): void {
    this.view = response.view
    for (const listener of this.#listeners) listener(response)
  }
}

function spacingMs(requests: readonly LaneRequest[]): number {
  const nonces = requests.filter(({ kind }) => kind === 'grant').length
  return spacingsMs[Math.min(nonces, 2)] ?? 0
}
