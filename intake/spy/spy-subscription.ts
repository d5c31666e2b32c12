import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client, type ClientReadableStream, connectivityState, credentials, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { printable } from '../../domain/text/printable.ts'
import type { Logger } from '../../observability/logger.ts'
import { type Retry, retryWaitMs } from '../submit/submissions.ts'

export interface SpyFilter {
  readonly chain: number
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
}

export interface SpyTarget {
  readonly address: string
  /** Absent: the connection is plain text. `caFile` is a PEM file, read again at each connection. */
  readonly tls?: { readonly caFile?: string | undefined; readonly serverName?: string | undefined } | undefined
}

export interface SpySubscriptionOptions extends SpyTarget {
  readonly filters: readonly SpyFilter[]
  readonly retry: Retry
  readonly onOpen: () => void
  readonly onLost: () => void
  readonly onMessage: (vaa: Uint8Array) => void
  readonly logger: Logger
}

interface SpyAnswer {
  readonly vaaBytes?: Uint8Array
}

type VaaStream = ClientReadableStream<SpyAnswer>

const connectTimeoutMs = 10_000
/**
 * Maximum wait after a failed connection, ms. Waits after a lost subscription may be longer, because a subscription
 * costs the spy more.
 */
const mostConnectWaitMs = 5_000
/** Interval of pings, ms. grpc-go servers close connections that ping more often than every 5 minutes. */
const keepaliveMs = 310_000

export function createSpySubscription(options: SpySubscriptionOptions) {
  const { address, filters, onOpen, onLost, onMessage, logger } = options
  const retries = createRetries(options, connect)
  let client: Client | undefined
  let stream: VaaStream | undefined
  let [stopped, connected, paused] = [false, false, false]

  function connect(): void {
    try {
      client = createSpyClient(options)
    } catch (error) {
      return retries.after(`the CA file of ${address} cannot be used: ${(error as Error).message}`, mostConnectWaitMs)
    }
    const opened = client
    const fail = (why: string) => end(opened, `cannot connect to ${address}: ${why}`, mostConnectWaitMs)
    whenConnected(opened, () => client !== opened, subscribe, fail)
  }

  function subscribe(opened: Client): void {
    const openedAt = performance.now()
    const receive = (vaa: Uint8Array) => {
      if (client !== opened) return
      // A spy may end every subscription after one message, so only a lasting subscription resets the wait.
      if (performance.now() - openedAt >= options.retry.mostMs) retries.restart()
      onMessage(vaa)
    }
    stream = listen(request(opened, filters), (reason) => end(opened, reason), receive)
    if (paused) stream.pause()
    connected = true
    retries.solved()
    onOpen()
    logger.info('listening to the guardian spy', { address, filters: filters.length })
  }

  function end(opened: Client, reason: string, mostWaitMs?: number): void {
    if (client !== opened) return
    client = undefined
    stream?.cancel()
    stream = undefined
    opened.close()
    const wasConnected = connected
    connected = false
    if (wasConnected) onLost()
    if (!stopped) retries.after(reason, mostWaitMs)
  }

  return {
    start: connect,
    stop(): void {
      stopped = true
      retries.stop()
      if (client) end(client, 'closed')
    },
    pause(wanted: boolean): void {
      paused = wanted
      if (wanted) stream?.pause()
      else stream?.resume()
    },
    get state() {
      return { connected, paused, problem: retries.problem }
    },
  }
}

function createRetries({ address, retry, logger }: Pick<SpySubscriptionOptions, 'address' | 'retry' | 'logger'>, connect: () => void) {
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let problem: string | undefined
  return {
    after(reason: string, mostWaitMs = retry.mostMs): void {
      const waitMs = retryWaitMs(failures++, { ...retry, mostMs: Math.min(retry.mostMs, mostWaitMs) })
      problem = reason
      logger.warn('the connection to the guardian spy is lost', { code: 'SPY_UNAVAILABLE', address, reason, retryInMs: waitMs })
      timer = setTimeout(connect, waitMs)
    },
    restart: () => void (failures = 0),
    solved: () => void (problem = undefined),
    stop: () => clearTimeout(timer),
    get problem() {
      return problem
    },
  }
}

/** Throws an Error if `caFile` cannot be read or is not a certificate. */
export function createSpyClient({ address, tls }: SpyTarget): Client {
  const trusted = tls?.caFile === undefined ? null : readFileSync(tls.caFile)
  return new Client(address, tls ? credentials.createSsl(trusted) : credentials.createInsecure(), {
    ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': 20_000,
    // `createSpySubscription` reconnects. A shared channel would add gRPC's back-off of up to two minutes.
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  })
}

/** Waits until the client is connected. It does not wait for a message, because a spy may send none for a long time. */
function whenConnected(client: Client, closed: () => boolean, done: (client: Client) => void, fail: (why: string) => void): void {
  const channel = client.getChannel()
  const until = performance.now() + connectTimeoutMs
  const check = () => {
    if (closed()) return
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) return done(client)
    if (state === connectivityState.TRANSIENT_FAILURE) return fail('refused, or its certificate is not trusted')
    channel.watchConnectivityState(state, Date.now() + until - performance.now(), (late) => (late ? fail('no answer in time') : check()))
  }
  check()
}

function listen(stream: VaaStream, onEnd: (reason: string) => void, onMessage: (vaa: Uint8Array) => void): VaaStream {
  stream.on('data', ({ vaaBytes = new Uint8Array() }) => onMessage(vaaBytes))
  // The spy's text is shown and logged, so its control characters are removed.
  stream.on('error', (error: ServiceError) => onEnd(printable(error.details || error.message) || 'the stream failed'))
  stream.on('end', () => onEnd('the spy ended the stream'))
  return stream
}

function request(client: Client, filters: readonly SpyFilter[]): VaaStream {
  const definition = loadSync('spy/v1/spy.proto', { includeDirs: [fileURLToPath(new URL('./protos', import.meta.url))], oneofs: true })
  const method = (definition['spy.v1.SpyRPCService'] as ServiceDefinition)['SubscribeSignedVAA']
  if (!method) throw new Error('intake/spy/protos has no SubscribeSignedVAA')
  const { path, requestSerialize, responseDeserialize } = method
  const entries = filters.map(({ chain, emitter }) => ({ emitterFilter: { chainId: chain, emitterAddress: emitter } }))
  return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize as (bytes: Buffer) => SpyAnswer, { filters: entries })
}
