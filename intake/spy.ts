import { backoffMs } from '../domain/backoff.ts'
import type { BridgeName } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { openSpyStream, type SpyFilter, type SpyStream } from './spy-stream.ts'
import type { Submitter } from './submitter.ts'
import { createSubmissions, type Outcome } from './submissions.ts'

export interface SpyIntakeOptions {
  /** Whose messages the spy gives. */
  readonly bridge: BridgeName
  /** host:port of the guardian spy. */
  readonly address: string
  /** None: everything that the network signs. */
  readonly filters: readonly SpyFilter[]
  readonly submitter: Submitter
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'intakeReceived' | 'intakeStarted' | 'intakeRefused'>
  /** Told each subscription that stands, and what became of each message. */
  readonly listener?: SpyListener
  /** Most messages submitted at once. Default 16. */
  readonly concurrency?: number
  /** Most messages kept while submitting fails; then reading stops. Default 10,000: some 15 MB. */
  readonly limit?: number
  /** First and longest wait before the next try of a message, and of the connection, ms. Default 1 s, 30 s. */
  readonly retry?: { readonly firstMs: number; readonly mostMs: number }
}

/** Who keeps count of what a spy tells. */
export interface SpyListener {
  listening(): void
  heard(vaa: Uint8Array, outcome: Outcome): void
}

/** How the intake is. Counts are since the start of this process. */
export interface SpyHealth {
  readonly connected: boolean
  /** Subscriptions that came about: 1 is the first. */
  readonly connections: number
  /** ms since the epoch. */
  readonly lastMessageAt: number | undefined
  readonly received: number
  readonly started: number
  readonly known: number
  /** By error code. */
  readonly refused: Readonly<Record<string, number>>
  /** Messages on their way or waiting for the next try. */
  readonly kept: number
  /** True while nothing is read because too much is kept. */
  readonly paused: boolean
  /** Why it is not connected, or why messages wait. */
  readonly problem: string | undefined
}

/** Listens to a guardian spy and passes what it says through the door. The spy forgets what nobody took; streams find those gaps. */
export interface SpyIntake {
  start(): void
  /** Ends the subscription, then submits what was heard, within this time, ms (default 5,000). */
  stop(graceMs?: number): Promise<void>
  readonly health: SpyHealth
}

/** Codes that say "not for us": normal on a bridge whose traffic is more than ours. */
const ordinary = new Set(['PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'])

export function createSpyIntake(options: SpyIntakeOptions): SpyIntake {
  const {
    bridge,
    address,
    filters,
    submitter,
    logger,
    metrics,
    listener,
    concurrency = 16,
    limit = 10_000,
    retry = { firstMs: 1_000, mostMs: 30_000 },
  } = options
  const refused: Record<string, number> = {}
  const counts = { connections: 0, received: 0, started: 0, known: 0 }
  let stream: SpyStream | undefined
  let connected = false
  let paused = false
  let running = false
  let failures = 0
  let reconnecting: NodeJS.Timeout | undefined
  let lastMessageAt: number | undefined
  let lost: string | undefined
  let trouble: string | undefined

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
      paused = full
      if (full) stream?.pause()
      else stream?.resume()
      logger.warn(full ? 'too many messages wait: the spy is not read' : 'the spy is read again', { address, kept: submissions.size })
    },
    onTrouble(error) {
      trouble = error?.message
      if (error) logger.warn('messages cannot be submitted and wait', { code: error.code, error: error.message })
      else logger.info('messages are submitted again', { kept: submissions.size })
    },
  })

  function connect(): void {
    stream = openSpyStream(address, filters, {
      onOpen() {
        connected = true
        lost = undefined
        counts.connections++
        listener?.listening()
        logger.info('listening to the guardian spy', { address, filters: filters.length })
      },
      onMessage(vaa) {
        failures = 0
        lastMessageAt = Date.now()
        counts.received++
        metrics.intakeReceived.inc({ via: 'spy', bridge })
        submissions.add(vaa)
      },
      onEnd: reconnect,
    })
    if (paused) stream.pause()
  }

  function reconnect(reason: string): void {
    connected = false
    stream = undefined
    if (!running) return
    const most = backoffMs(failures++, retry.firstMs, retry.mostMs)
    const waitMs = Math.round(most / 2 + (Math.random() * most) / 2)
    lost = reason
    logger.warn('the guardian spy is lost', { code: 'SPY_UNAVAILABLE', address, reason, retryInMs: waitMs })
    reconnecting = setTimeout(connect, waitMs)
  }

  function count(outcome: Outcome): void {
    if (outcome.kind !== 'refused') {
      counts[outcome.kind]++
      metrics.intakeStarted.inc({ via: 'spy', bridge, status: outcome.kind })
      logger.debug(outcome.kind === 'started' ? 'transfer started' : 'transfer known', { transfer: outcome.id })
      return
    }
    const { code, message } = outcome.error
    refused[code] = (refused[code] ?? 0) + 1
    metrics.intakeRefused.inc({ via: 'spy', bridge, code })
    logger[ordinary.has(code) ? 'debug' : 'warn']('message refused', { code, error: message })
  }

  return {
    start() {
      if (running) return
      running = true
      connect()
    },
    async stop(graceMs = 5_000) {
      running = false
      clearTimeout(reconnecting)
      stream?.close()
      const left = await submissions.close(graceMs)
      if (left > 0)
        logger.warn('stopped before these messages could be submitted; they must be fetched again', { messages: left, problem: trouble })
    },
    get health() {
      return { ...counts, connected, paused, lastMessageAt, refused: { ...refused }, kept: submissions.size, problem: lost ?? trouble }
    },
  }
}
