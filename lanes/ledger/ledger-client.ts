import { view } from '../../domain/lane/view.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type {
  ApplyRequest,
  ApplyResponse,
  Ask,
  KnownLedger,
  LaneAnswer,
  LaneRequest,
  LaneView,
  Observation,
} from '../../domain/lane/messages.ts'
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
  /** The ledger continues as new after so many updates; for tests. */
  readonly updatesPerRun?: number
}

/** Called after every response, and after every `look`, which shows no orders. The ledger repeats its orders until they are met. */
type LedgerListener = (response: Omit<ApplyResponse, 'answers'>) => void

/** Requests per update: keeps its payload well below the server's limits. */
const requestsPerUpdate = 64

/**
 * How long after an update the next may begin, ms: with one nonce asked for, and with several. In busy times many requests then share an update, each of which
 * costs Temporal and this process as much as an activity does; the first after a while leaves at once.
 */
const spacing = { afterOneMs: 200, afterManyMs: 500 } as const

/** What one process asks and tells the ledger of one lane, in one update at a time. One without an answer is sent again, with the same ids, until `close`. */
export class LedgerClient {
  /** The ledger as its last answer had it. */
  view: LaneView | undefined
  /** True if the last response had orders: the next one tells whether they are met. */
  hasOrders = false
  readonly #options: LedgerClientOptions
  readonly #updates: CoalescingUpdates<LaneRequest, ApplyRequest, ApplyResponse>
  readonly #listeners = new Set<LedgerListener>()
  #observation: Observation | undefined
  #known: KnownLedger | undefined
  /** The run of the ledger that answered last. */
  #run = ''

  constructor(options: LedgerClientOptions) {
    const { client, config, logger, updatesPerRun } = options
    const start = { config, ...(updatesPerRun && { updatesPerRun }) }
    this.#options = options
    this.#updates = new CoalescingUpdates({
      fits: (requests) => requests.length <= requestsPerUpdate,
      build: (requests) => this.#build(requests),
      send: (request, updateId) => applyToLane(client, config.lane, request, { start, updateId }),
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

  /** Tells the ledger this process's config of the lane. Ends when it is answered, or when this client is closed. */
  async introduce(): Promise<void> {
    await this.ask({ kind: 'configure', config: this.#options.config }).catch(() => {})
  }

  /** Keeps the hash of what was signed for an operator's transaction, with its workflow, before it is sent. Throws TEMPORAL_UNAVAILABLE. */
  recordSigned(intentId: string, signed: SignedHash & { nonce: number }): Promise<void> {
    return recordSigned(this.#options.client, intentId, signed)
  }

  /** Queries the ledger, which costs no history: shows orders of operators to a lane that has no work. */
  async look(): Promise<void> {
    const { client, config } = this.#options
    try {
      const state = await queryPagedLane(client, config.lane)
      // An answer that came meanwhile is newer.
      if (this.#updates.busy || this.#updates.closed) return
      this.#see({ view: view(state), orders: [], raises: [] })
    } catch {
      // It is not there, or cannot be reached: the next update starts it, or waits for it.
    }
  }

  /** Throws LANE_UNREACHABLE only after `close`, INTERNAL if the ledger finds the request malformed. */
  ask(ask: Ask): Promise<LaneAnswer>
  /** @param isStale undefined is returned, and nothing sent, if this holds right before the request would leave */
  ask(ask: Ask, isStale: () => boolean): Promise<LaneAnswer | undefined>
  async ask(ask: Ask, isStale = () => false): Promise<LaneAnswer | undefined> {
    const response = await this.#updates.ask([{ ...ask, id: this.#updates.nextId() }], isStale)
    return response && (response.answers[0] ?? { kind: 'done' })
  }

  /** Goes with the next update; a newer observation replaces one that has not left. */
  observe(observation: Observation): void {
    this.#observation = observation
    this.#updates.flush()
  }

  /** What was not answered fails with LANE_UNREACHABLE: the transfers ask again in another process. */
  close(): void {
    this.#updates.close()
  }

  #build(requests: readonly LaneRequest[]): ApplyRequest {
    const observe = this.#observation
    this.#observation = undefined
    return { requests, run: this.#run, ...(observe && { observe }), ...(this.#known && { known: this.#known }) }
  }

  #onResponse(response: ApplyResponse): void {
    const { era, granted, next, finalized, run = '' } = response.view
    this.#run = run
    // A ledger that was set back answers less, and is told of what it forgot until it has caught up.
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
  if (nonces === 0) return 0
  return nonces === 1 ? spacing.afterOneMs : spacing.afterManyMs
}
