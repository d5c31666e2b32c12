import type { StreamConfig, StreamRequest, StreamResponse, StreamState, StreamView } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { isTooLarge, mostOfUpdate } from '../../domain/stream/request.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { CoalescingUpdates } from '../../temporal/client/calls/coalescing-updates.ts'
import { applyToStream, queryStream } from '../../temporal/client/streams/streams.ts'
import type { StreamInput } from '../../temporal/contracts/stream.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { pause, Wait } from '../../runtime/wait.ts'

export interface StreamClientOptions {
  readonly client: TemporalClient
  readonly config: StreamConfig
  readonly logger: Logger
  readonly begin?: () => Promise<StreamInput>
}

const mostRequests = 64

/**
 * Sends one update at a time, and repeats it until it is answered or `close` is called. The first update creates the
 * stream.
 */
export class StreamClient {
  readonly #options: StreamClientOptions
  readonly #updates: CoalescingUpdates<StreamRequest, StreamResponse>
  #era = 0
  #view: StreamView | undefined
  #change = new AbortController()

  constructor(options: StreamClientOptions) {
    const { client, config, logger, begin = () => ({ config }) } = options
    this.#options = options
    this.#updates = new CoalescingUpdates({
      fits: (requests) => requests.length <= mostRequests && !isTooLarge(requests),
      build: (requests) => (updateId) => applyToStream(client, config.stream, { requests }, { begin, updateId }),
      onResponse: ({ answers, view }) => {
        if (answers.some(({ kind }) => kind === 'forked')) this.#era += 1
        this.#see(view)
      },
      unreachable: 'STREAM_UNREACHABLE',
      facts: { stream: config.stream },
      logger,
    })
  }

  get view(): StreamView | undefined {
    return this.#view
  }

  /** Grows when the stream goes back (after a fork, or a restore of Temporal). */
  get era(): number {
    return this.#era
  }

  /**
   * Sends requests. Undefined if the stream has gone back since `era`, so that not all requests were recorded. Throws
   * STREAM_UNREACHABLE and INTERNAL.
   */
  async apply(requests: readonly StreamRequest[], era = this.#era): Promise<StreamResponse | undefined> {
    const most = mostOfUpdate.requests
    const starts = Array.from({ length: Math.max(1, Math.ceil(requests.length / most)) }, (_, index) => index * most)
    const parts = starts.map((from) => requests.slice(from, from + most))
    const responses = await Promise.all(parts.map((part) => this.#updates.ask(part, () => era !== this.#era)))
    const last = responses.at(-1)
    if (!last || responses.includes(undefined)) return undefined
    return { ...last, answers: responses.flatMap((one) => one?.answers ?? []) }
  }

  /** Queries the stream. Undefined if there is no stream yet. Throws STREAM_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
  async state(): Promise<StreamState | undefined> {
    const state = await queryStream(this.#options.client, this.#options.config.stream)
    if (state) this.#see(viewStream(state))
    else if (this.#view) {
      this.#view = undefined
      this.#era += 1
    }
    return state
  }

  /** Resolves when the view changes, after `timeoutMs`, or at `close`. */
  async changed(timeoutMs: number): Promise<void> {
    if (!this.#updates.closed) await pause(timeoutMs, this.#change.signal)
  }

  /** Unanswered requests fail with STREAM_UNREACHABLE. */
  close(): void {
    this.#updates.close()
    this.#wake()
  }

  #wake(): void {
    this.#change.abort()
    this.#change = new AbortController()
  }

  #see(view: StreamView): void {
    const before = this.#view
    const isBack = before?.nextHeight !== undefined && (view.nextHeight === undefined || view.nextHeight < before.nextHeight)
    if (isBack) this.#era += 1
    this.#view = view
    // Without this check, two loops that wait and then query would wake each other for ever.
    if (JSON.stringify(view) !== JSON.stringify(before)) this.#wake()
  }
}

export interface AuditLimits {
  readonly deadlineMs?: number | undefined
  readonly stopping?: AbortSignal | undefined
}

const usualDeadlineMs = 600_000

/** Runs an audit, then closes the client. Throws STREAM_AUDIT_UNENDED if a limit ends the audit. */
export async function auditWithin<Result>(
  streamClient: Pick<StreamClient, 'close'>,
  stream: string,
  { deadlineMs = usualDeadlineMs, stopping }: AuditLimits,
  audit: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const wait = new Wait<Result>({ timeoutMs: deadlineMs, signal: stopping }, () => {
    const why = stopping?.aborted ? 'This process is stopping.' : `It has not ended within ${Math.ceil(deadlineMs / 1_000)} s.`
    ending.abort()
    streamClient.close()
    wait.reject(new RelayerError('STREAM_AUDIT_UNENDED', { detail: why, facts: { stream } }))
  })
  audit(ending.signal).then(wait.resolve, wait.reject)
  return wait.promise.finally(() => streamClient.close())
}
