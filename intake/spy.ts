import type { RelayerError } from '../domain/errors.ts'
import type { BridgeName } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { SpyFilter } from './spy-stream.ts'
import { createSpySubscription } from './spy-subscription.ts'
import type { Submitter } from './submitter.ts'
import { createSubmissions, type Outcome, type Retry } from './submissions.ts'

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
  /** Before the next try of a message, and of the connection. Default 1 s, 30 s. */
  readonly retry?: Retry
}

/** The streams, which prove that no message was missed. */
export interface SpyListener {
  listening(): void
  heard(vaa: Uint8Array, outcome: Outcome): void
}

export type SpyIntake = ReturnType<typeof createSpyIntake>

/** Refusals of messages that Portage does not deliver: normal on a bridge that carries other traffic too. */
const expectedRefusals = new Set(['PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'])

/** Listens to a guardian spy and submits its messages. The spy does not repeat a message that was missed; streams find those gaps. */
export function createSpyIntake(options: SpyIntakeOptions) {
  const settings = { concurrency: 16, limit: 10_000, retry: { firstMs: 1_000, mostMs: 30_000 }, ...options }
  const { bridge, address, submitter, logger, metrics, listener } = settings
  const labels = { via: 'spy', bridge }
  /** Since the start of this process; the subscriptions that were opened: 1 is the first. */
  const counts = { connections: 0, received: 0, started: 0, known: 0 }
  const refused: Record<string, number> = {}
  let lastMessageAt: number | undefined
  let failure: string | undefined

  const submissions = createSubmissions({
    ...settings,
    submit: (message) => submitter.submit(bridge, message, { repeats: 'skip' }),
    onOutcome(outcome, message) {
      listener?.heard(message, outcome)
      if (outcome.kind === 'refused') return refuse(outcome.error)
      counts[outcome.kind]++
      metrics.portage_intake_started_total.inc({ ...labels, status: outcome.kind })
      logger.debug(`transfer ${outcome.kind}`, { transfer: outcome.id })
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
    ...settings,
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

  function refuse({ code, message }: RelayerError): void {
    refused[code] = (refused[code] ?? 0) + 1
    metrics.portage_intake_refused_total.inc({ ...labels, code })
    logger[expectedRefusals.has(code) ? 'debug' : 'warn']('message refused', { code, error: message })
  }

  return {
    start: subscription.start,
    /** Ends the subscription, then submits the messages that were heard, within this time, ms (default 5,000). */
    async stop(graceMs = 5_000): Promise<void> {
      subscription.stop()
      const left = await submissions.close(graceMs)
      if (left > 0)
        logger.warn('stopped before these messages could be submitted; they must be fetched again', { messages: left, problem: failure })
    },
    /** `kept`: messages that are submitted or wait. `paused`: so many that nothing is read. `problem`: why it is not connected, or they wait. `refused`: by code. */
    get health() {
      const { problem = failure, ...connection } = subscription.state
      return { ...counts, ...connection, problem, lastMessageAt, refused: { ...refused }, kept: submissions.size }
    },
  }
}
