import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type BridgeName, mostMessageBytes } from '../../domain/transfer/transfer.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { createSpySubscription, type SpySubscriptionOptions } from './spy-subscription.ts'
import type { Submitter } from '../submit/submitter.ts'
import { type Outcome, type Retry, Submissions } from '../submit/submissions.ts'
import { problemOf } from '../../observability/severity.ts'

export interface SpyIntakeOptions extends Pick<SpySubscriptionOptions, 'address' | 'tls' | 'filters' | 'logger'> {
  readonly bridge: BridgeName
  readonly submitter: Submitter
  readonly metrics: Pick<Metrics, 'portage_intake_messages_total' | 'portage_intake_started_total' | 'portage_intake_refused_total'>
  readonly listener?: SpyListener
  readonly concurrency?: number
  /** Reading stops while this number of messages waits to be submitted. Default: 10,000, about 15 MB. */
  readonly limit?: number
  readonly retry?: Retry
}

export interface SpyListener {
  connected(address: string): void
  disconnected?(address: string): void
  received(vaa: Uint8Array, outcome: Outcome): void
  delayed?(vaa: Uint8Array, error: RelayerError): void
}

export type SpyIntake = ReturnType<typeof createSpyIntake>
export type SpyHealth = Pick<SpyIntake, 'address'> & Pick<SpyIntake['health'], 'connected' | 'paused' | 'problem' | 'kept' | 'unknownSets'>

/** Refusals without a warning. A bridge also carries messages that Portage does not deliver. */
const expectedRefusals = new Set(['PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'])

/**
 * Subscribes to a spy and submits its messages. A spy does not send missed messages later, so the streams fetch them.
 */
export function createSpyIntake(options: SpyIntakeOptions) {
  const settings = { concurrency: 16, limit: 10_000, retry: { firstMs: 1_000, mostMs: 30_000 }, ...options }
  const { bridge, address, logger, listener } = settings
  const counts = createCounts(settings)
  let failure: string | undefined

  const submissions = new Submissions({
    ...settings,
    onOutcome(outcome, message) {
      listener?.received(message, outcome)
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
      listener?.connected(address)
    },
    onLost: () => listener?.disconnected?.(address),
    onMessage(vaa) {
      counts.received()
      if (vaa.length <= mostMessageBytes) return submissions.add(vaa)
      // Refused before it is queued, so that no message this large is kept while submitting fails.
      const error = new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: vaa.length, most: mostMessageBytes } })
      const outcome = { kind: 'refused', error } as const
      listener?.received(vaa, outcome)
      counts.outcome(outcome)
    },
  })

  return {
    bridge,
    address,
    start: subscription.start,
    async stop(graceMs = 5_000): Promise<void> {
      subscription.stop()
      const left = await submissions.close(graceMs)
      if (left > 0)
        logger.warn('stopped before these messages could be submitted', { code: 'MESSAGES_LEFT', address, count: left, problem: failure })
    },
    /** `kept`: messages without an outcome. `paused`: reading has stopped at `limit`. `refused`: counts by code. */
    get health() {
      const { problem = failure, ...connection } = subscription.state
      return { ...counts.all, ...connection, problem, kept: submissions.size, unknownSets: submissions.unknownSets }
    },
  }
}

/** Minimum time between two warnings about the same code, ms. Anybody can make a spy send junk. */
const warnEveryMs = 60_000

function createCounts({ bridge, logger, metrics }: Pick<SpyIntakeOptions, 'bridge' | 'logger' | 'metrics'>) {
  const labels = { via: 'spy', bridge }
  const counts = { connections: 0, received: 0, started: 0, known: 0 }
  const refused: Record<string, number> = {}
  const warned = boundedMap<string, true>(100, warnEveryMs)
  let lastMessageAt: number | undefined

  function refuse(error: RelayerError): void {
    const { code } = error
    refused[code] = (refused[code] ?? 0) + 1
    metrics.portage_intake_refused_total.inc({ ...labels, code })
    const isExpected = expectedRefusals.has(code) || warned.has(code)
    if (!isExpected) warned.set(code, true)
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
