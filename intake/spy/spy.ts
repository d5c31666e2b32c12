import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type BridgeName, mostMessageBytes } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { createRecent } from '../submit/recent.ts'
import type { SpyFilter } from './spy-stream.ts'
import { createSpySubscription } from './spy-subscription.ts'
import type { Submitter } from '../submit/submitter.ts'
import { type Outcome, type Retry, Submissions } from '../submit/submissions.ts'
import { problemOf } from '../../observability/severity.ts'

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
  /** Called for each subscription that is opened or ends, and with the outcome of each message. */
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
  /** A subscription has ended. */
  deaf?(): void
  heard(vaa: Uint8Array, outcome: Outcome): void
  /** It cannot be submitted now, and is tried again. */
  delayed?(vaa: Uint8Array, error: RelayerError): void
}

export type SpyIntake = ReturnType<typeof createSpyIntake>
/** Of one subscription: does it stand, is it read, and what waits. */
export type SpyHealth = Pick<SpyIntake, 'address'> & Pick<SpyIntake['health'], 'connected' | 'paused' | 'problem' | 'kept' | 'unknownSets'>

/** Refusals of messages that Portage does not deliver: normal on a bridge that carries other traffic too. */
const expectedRefusals = new Set(['PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'])

/** Listens to a guardian spy and submits its messages. The spy does not repeat a message that was missed; streams find those gaps. */
export function createSpyIntake(options: SpyIntakeOptions) {
  const settings = { concurrency: 16, limit: 10_000, retry: { firstMs: 1_000, mostMs: 30_000 }, ...options }
  const { bridge, address, submitter, logger, listener } = settings
  const counts = createCounts(settings)
  let failure: string | undefined

  const submissions = new Submissions({
    ...settings,
    submit: (message, seenAt) => submitter.submit(bridge, message, { repeats: 'skip', seenAt }),
    onOutcome(outcome, message) {
      listener?.heard(message, outcome)
      counts.outcome(outcome)
    },
    onDelay: (error, message) => listener?.delayed?.(message, error),
    onFull(full) {
      subscription.pause(full)
      const about = { address, kept: submissions.size }
      if (full) logger.warn('too many messages wait: the spy is not read', { code: 'SPY_BACKLOG', ...about })
      else logger.info('the spy is read again', about)
    },
    onTrouble(error) {
      failure = error?.message
      if (error) logger.warn('messages cannot be submitted and wait', { address, kept: submissions.size, ...problemOf(error) })
      else logger.info('messages are submitted again', { kept: submissions.size })
    },
  })
  const subscription = createSpySubscription({
    ...settings,
    onOpen() {
      counts.opened()
      listener?.listening()
    },
    onLost: () => listener?.deaf?.(),
    onMessage(vaa) {
      counts.received()
      if (vaa.length <= mostMessageBytes) return submissions.add(vaa)
      // It is not kept, not even while submitting fails.
      const error = new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: vaa.length, most: mostMessageBytes } })
      const outcome = { kind: 'refused', error } as const
      listener?.heard(vaa, outcome)
      counts.outcome(outcome)
    },
  })

  return {
    bridge,
    address,
    start: subscription.start,
    /** Ends the subscription, then submits the messages that were heard, within this time, ms (default 5,000). */
    async stop(graceMs = 5_000): Promise<void> {
      subscription.stop()
      const left = await submissions.close(graceMs)
      if (left > 0)
        logger.warn('stopped before these messages could be submitted', { code: 'MESSAGES_LEFT', address, count: left, problem: failure })
    },
    /** `kept`: messages that are submitted or wait; `unknownSets`: those of them whose guardian set is not known yet. `paused`: so many that nothing is read. `problem`: why it is not connected, or they wait. `refused`: by code. */
    get health() {
      const { problem = failure, ...connection } = subscription.state
      return { ...counts.all, ...connection, problem, kept: submissions.size, unknownSets: submissions.unknownSets }
    },
  }
}

/** Refusals of one code that are warned of: one in this time, ms. Anybody can make a spy repeat junk. */
const warnEveryMs = 60_000

/** What came of the messages of one spy since the start of this process. */
function createCounts({ bridge, logger, metrics }: Pick<SpyIntakeOptions, 'bridge' | 'logger' | 'metrics'>) {
  const labels = { via: 'spy', bridge }
  /** The subscriptions that were opened: 1 is the first. */
  const counts = { connections: 0, received: 0, started: 0, known: 0 }
  const refused: Record<string, number> = {}
  const warned = createRecent(100, warnEveryMs)
  let lastMessageAt: number | undefined

  function refuse(error: RelayerError): void {
    const { code } = error
    refused[code] = (refused[code] ?? 0) + 1
    metrics.portage_intake_refused_total.inc({ ...labels, code })
    const isExpected = expectedRefusals.has(code) || warned.has(code)
    if (!isExpected) warned.add(code)
    logger[isExpected ? 'debug' : 'warn']('message refused', { bridge, ...problemOf(error) })
  }

  return {
    opened: () => void counts.connections++,
    received(): void {
      lastMessageAt = Date.now()
      counts.received++
      metrics.portage_intake_messages_total.inc(labels)
    },
    outcome(outcome: Outcome): void {
      if (outcome.kind === 'refused') return refuse(outcome.error)
      counts[outcome.kind]++
      metrics.portage_intake_started_total.inc({ ...labels, status: outcome.kind })
      logger.debug(`transfer ${outcome.kind}`, { transfer: outcome.id })
    },
    get all() {
      return { ...counts, lastMessageAt, refused: { ...refused } }
    },
  }
}
