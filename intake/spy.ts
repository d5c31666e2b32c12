import type { BridgeName } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { SpyFilter } from './spy-stream.ts'
import { createSpySubscription } from './spy-subscription.ts'
import type { Submitter } from './submitter.ts'
import { createSubmissions, type Outcome } from './submissions.ts'

export interface SpyIntakeOptions {
  /** Bridge of the spy's messages. */
  readonly bridge: BridgeName
  /** host:port of the guardian spy. */
  readonly address: string
  /** Empty: everything that the network signs. */
  readonly filters: readonly SpyFilter[]
  readonly submitter: Submitter
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'portage_intake_messages_total' | 'portage_intake_started_total' | 'portage_intake_refused_total'>
  /** Called for each subscription that is opened, and with the outcome of each message. */
  readonly listener?: SpyListener
  /** Most messages submitted at once. Default 16. */
  readonly concurrency?: number
  /** Most messages kept while submitting fails; at this number reading stops. Default 10,000: some 15 MB. */
  readonly limit?: number
  /** First and longest wait before the next try of a message, and of the connection, ms. Default 1 s, 30 s. */
  readonly retry?: { readonly firstMs: number; readonly mostMs: number }
}

/** The streams, which prove that no message was missed. */
export interface SpyListener {
  listening(): void
  heard(vaa: Uint8Array, outcome: Outcome): void
}

/** State of the intake. Counts are since the start of this process. */
export interface SpyHealth {
  readonly connected: boolean
  /** Subscriptions that were opened: 1 is the first. */
  readonly connections: number
  /** ms since the epoch. */
  readonly lastMessageAt: number | undefined
  readonly received: number
  readonly started: number
  readonly known: number
  /** By error code. */
  readonly refused: Readonly<Record<string, number>>
  /** Messages that are being submitted or wait for the next try. */
  readonly kept: number
  /** True while nothing is read because too much is kept. */
  readonly paused: boolean
  /** Why it is not connected, or why messages wait. */
  readonly problem: string | undefined
}

/** Listens to a guardian spy and submits its messages. The spy does not repeat a message that was missed; streams find those gaps. */
export type SpyIntake = ReturnType<typeof createSpyIntake>

/** Refusals of messages that Portage does not deliver: normal on a bridge that carries other traffic too. */
const expectedRefusals = new Set(['PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'])

export function createSpyIntake(options: SpyIntakeOptions) {
  const { bridge, address, filters, submitter, logger, metrics, listener, concurrency = 16, limit = 10_000 } = options
  const { retry = { firstMs: 1_000, mostMs: 30_000 } } = options
  const labels = { via: 'spy', bridge }
  const refused: Record<string, number> = {}
  const counts = { connections: 0, received: 0, started: 0, known: 0 }
  let lastMessageAt: number | undefined
  let failure: string | undefined

  const submissions = createSubmissions({
    submit: (message) => submitter.submit(bridge, message, { repeats: 'skip' }),
    concurrency,
    limit,
    retry,
    onOutcome(outcome, message) {
      count(outcome)
      listener?.heard(message, outcome)
    },
    onFull(full) {
      subscription.pause(full)
      logger.warn(full ? 'too many messages wait: the spy is not read' : 'the spy is read again', { address, kept: submissions.size })
    },
    onTrouble(error) {
      failure = error?.message
      if (error) logger.warn('messages cannot be submitted and wait', { code: error.code, error: error.message })
      else logger.info('messages are submitted again', { kept: submissions.size })
    },
  })
  const subscription = createSpySubscription({
    address,
    filters,
    retry,
    logger,
    onOpen() {
      counts.connections++
      listener?.listening()
    },
    onMessage(vaa) {
      lastMessageAt = Date.now()
      counts.received++
      metrics.portage_intake_messages_total.inc(labels)
      submissions.add(vaa)
    },
  })

  function count(outcome: Outcome): void {
    if (outcome.kind !== 'refused') {
      counts[outcome.kind]++
      metrics.portage_intake_started_total.inc({ ...labels, status: outcome.kind })
      logger.debug(outcome.kind === 'started' ? 'transfer started' : 'transfer known', { transfer: outcome.id })
      return
    }
    const { code, message } = outcome.error
    refused[code] = (refused[code] ?? 0) + 1
    metrics.portage_intake_refused_total.inc({ ...labels, code })
    logger[expectedRefusals.has(code) ? 'debug' : 'warn']('message refused', { code, error: message })
  }

  return {
    start: () => subscription.start(),
    /** Ends the subscription, then submits the messages that were heard, within this time, ms (default 5,000). */
    async stop(graceMs = 5_000): Promise<void> {
      subscription.stop()
      const left = await submissions.close(graceMs)
      if (left > 0)
        logger.warn('stopped before these messages could be submitted; they must be fetched again', { messages: left, problem: failure })
    },
    get health(): SpyHealth {
      const { connected, paused, problem = failure } = subscription
      return { ...counts, connected, paused, lastMessageAt, refused: { ...refused }, kept: submissions.size, problem }
    },
  }
}
