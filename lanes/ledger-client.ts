import { isTold } from '../domain/backoff.ts'
import { RelayerError } from '../domain/errors.ts'
import type {
  ApplyRequest,
  ApplyResponse,
  FillOrder,
  KnownLedger,
  LaneAnswer,
  LaneConfig,
  LaneRequest,
  LaneView,
  Observation,
  RaiseOrder,
} from '../domain/lane/lane.ts'
import type { Logger } from '../observability/logger.ts'
import { applyOnLedger } from './apply-on-ledger.ts'
import { view } from '../domain/lane/reducer.ts'
import { laneStatusQuery, malformedUpdate, runIsFull } from '../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { randomBytes } from 'node:crypto'

/** A request without its id: the ledger client gives it one. */
export type Ask = LaneRequest extends infer R ? (R extends LaneRequest ? Omit<R, 'id'> : never) : never

/** Longest wait between two tries to reach the ledger, ms. */
const longestRetryMs = 5_000
/** Requests per update: keeps its payload well below the server's limits. */
const requestsPerUpdate = 64

interface Pending {
  readonly request: LaneRequest
  resolve(answer: LaneAnswer): void
  reject(error: RelayerError): void
}

/**
 * A process's line to the ledger of one lane. Whatever is asked while an update is on its way goes together in the next one, so a process
 * has at most one update in flight, however many transfers ask. Unreachable ledgers are asked again, the same request ids, until closed.
 */
export class LedgerClient {
  readonly #options: { client: Client; config: LaneConfig; logger: Logger; updatesPerRun?: number }
  readonly #process = randomBytes(4).toString('hex')
  #count = 0
  #queue: Pending[] = []
  #observation: Observation | undefined
  #busy = false
  #closed = false
  #view: LaneView | undefined
  #known: KnownLedger | undefined
  /** The ledger's run that answered last. */
  #heard = ''
  #owed = false
  onOrders: (orders: readonly FillOrder[], raises: readonly RaiseOrder[]) => void = () => {}
  onView: (view: LaneView) => void = () => {}

  constructor(options: { client: Client; config: LaneConfig; logger: Logger; updatesPerRun?: number }) {
    this.#options = options
  }

  /** The ledger as its last answer told it. */
  get view(): LaneView | undefined {
    return this.#view
  }

  /** True if the last answer had orders: the next one tells whether they are met. */
  get owed(): boolean {
    return this.#owed
  }

  /**
   * Tells the ledger this process's config of the lane. Ends when it is answered, or when the line is closed. A ledger of an older version does
   * not know the request, and goes on with what it was started with.
   */
  async introduce(): Promise<void> {
    await this.ask({ kind: 'configure', config: this.#options.config }).catch(() => {})
  }

  /** Looks at the ledger and tells it nothing, which costs no history: what others ordered of a lane without work is seen so. */
  async look(): Promise<void> {
    const { client, config } = this.#options
    try {
      const state = await client.workflow.getHandle(laneWorkflowId(config.lane)).query(laneStatusQuery)
      // An answer that came meanwhile is newer.
      if (this.#busy || this.#closed) return
      this.#view = view(state)
      this.onView(this.#view)
    } catch {
      // It is not there, or cannot be reached: whoever tells it something finds out.
    }
  }

  /** Throws LANE_UNREACHABLE only after `close`, INTERNAL if the ledger finds the request malformed. */
  ask(ask: Ask): Promise<LaneAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#unreachable())
      const request = { ...ask, id: `${this.#process}${++this.#count}` } as LaneRequest
      this.#queue.push({ request, resolve, reject })
      this.#wake()
    })
  }

  /** Goes with the next update; a newer observation replaces one that has not left. */
  observe(observation: Observation): void {
    this.#observation = observation
    this.#wake()
  }

  /** What has not left fails with LANE_UNREACHABLE; who asked tries again in another process. */
  close(): void {
    this.#closed = true
    for (const { reject } of this.#queue.splice(0)) reject(this.#unreachable())
  }

  #wake(): void {
    if (this.#busy || this.#closed) return
    this.#busy = true
    // What is asked in the same turn of the event loop goes along.
    setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (!this.#closed && (this.#queue.length > 0 || this.#observation)) {
      const sent = this.#queue.splice(0, requestsPerUpdate)
      const observe = this.#observation
      this.#observation = undefined
      const requests = sent.map(({ request }) => request)
      const response = await this.#apply({
        requests,
        run: this.#heard,
        ...(observe && { observe }),
        ...(this.#known && { known: this.#known }),
      })
      if (response instanceof RelayerError) {
        if (observe && !this.#closed) this.#options.logger.error('the ledger was not told what was seen', { error: response.message })
        for (const { reject } of sent) reject(response)
        continue
      }
      this.#view = response.view
      this.#heard = response.view.run ?? ''
      this.#remember(response.view)
      sent.forEach(({ resolve }, index) => resolve(response.answers[index] ?? { kind: 'done' }))
      const { orders, raises = [] } = response
      this.#owed = orders.length + raises.length > 0
      if (this.#owed) this.onOrders(orders, raises)
      this.onView(response.view)
    }
    this.#busy = false
  }

  /** The newest: a ledger that was set back says less, and is to hear of what it forgot until it says as much. */
  #remember({ era = 0, granted, next, finalized }: LaneView): void {
    const known = this.#known
    if (granted === undefined || (known?.era === era && granted < known.granted)) return
    this.#known = { era, granted, next, finalized }
  }

  /** The same update id at every try: within a run the server itself answers a repeated one only once. */
  async #apply(request: ApplyRequest): Promise<ApplyResponse | RelayerError> {
    const updateId = `${this.#process}-${++this.#count}`
    for (let tries = 0; !this.#closed; tries++) {
      try {
        return await this.#update(request, updateId)
      } catch (error) {
        const refusal = refusedAs(malformedUpdate, error)
        if (refusal)
          return new RelayerError('INTERNAL', {
            detail: `the ledger refuses a request: ${refusal}`,
            facts: { lane: this.#options.config.lane },
          })
        // Closing, continuing as new, restarting, out of reach: all are the same to us, and all pass. The first belongs to every day.
        this.#options.logger[refusedAs(runIsFull, error) || !isTold(tries) ? 'debug' : 'warn']('the ledger did not answer; asking again', {
          lane: this.#options.config.lane,
          tries,
          reason: error instanceof Error ? error.message : String(error),
        })
        await new Promise((resolve) => setTimeout(resolve, Math.min(longestRetryMs, 50 * 2 ** Math.min(tries, 10))))
      }
    }
    return this.#unreachable()
  }

  #update(request: ApplyRequest, updateId: string): Promise<ApplyResponse> {
    const { client, config, updatesPerRun } = this.#options
    return applyOnLedger(client, config, request, { updateId, ...(updatesPerRun && { updatesPerRun }) })
  }

  #unreachable(): RelayerError {
    return new RelayerError('LANE_UNREACHABLE', { detail: 'this process is stopping', facts: { lane: this.#options.config.lane } })
  }
}

/** What the ledger said when it refused an update with a failure of this type; undefined for every other error. */
function refusedAs(type: string, error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  return cause instanceof ApplicationFailure && cause.type === type ? cause.message : undefined
}
