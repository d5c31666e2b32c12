import { fileURLToPath } from 'node:url'
import { Client, type ClientReadableStream, connectivityState, credentials, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { printable } from '../../domain/text/printable.ts'

/** Whose messages are asked for. */
export interface SpyFilter {
  /** Wormhole chain id. */
  readonly chain: number
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
}

interface SpyStreamHandlers {
  /** Once, when the spy can be reached and was asked. */
  readonly onOpen: () => void
  readonly onMessage: (vaa: Uint8Array) => void
  /** Once, at the end, whichever side ended it. */
  readonly onEnd: (reason: string) => void
}

export type SpyStream = ReturnType<typeof openSpyStream>

/** How long a connection may take to come about, ms. */
const connectTimeoutMs = 10_000
/** To notice a dead connection though nothing is sent for hours. Go servers end those that ping more often than every 5 minutes (grpc-go EnforcementPolicy). */
const keepaliveMs = 310_000

const nothing = new Uint8Array()

/** One subscription to a guardian spy at host:port. No filter: everything. It ends once and is not opened again. */
export function openSpyStream(address: string, filters: readonly SpyFilter[], handlers: SpyStreamHandlers) {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': 20_000,
    // Reconnecting is ours, bounded and visible. Shared connections would keep gRPC's own back-off of up to two minutes.
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  })
  let stream: ClientReadableStream<{ vaaBytes: Uint8Array }> | undefined
  let paused = false
  let ended = false
  const end = (reason: string) => {
    if (ended) return
    ended = true
    stream?.cancel()
    client.close()
    handlers.onEnd(reason)
  }
  const subscribe = () => {
    stream = request(client, filters)
    // proto3 leaves out what is empty.
    stream.on('data', ({ vaaBytes = nothing }: { vaaBytes?: Uint8Array }) => ended || handlers.onMessage(vaaBytes))
    // The spy's own words, which are shown and logged.
    stream.on('error', (failure: ServiceError) => end(printable(failure.details || failure.message) || 'the stream failed'))
    stream.on('end', () => end('the spy ended the stream'))
    if (paused) stream.pause()
    handlers.onOpen()
  }
  whenConnected(
    client,
    () => ended,
    (problem) => {
      if (problem === undefined) subscribe()
      else end(`cannot connect to ${address}: ${problem}`)
    },
  )
  return {
    /** Stops or resumes reading: the flow control of HTTP/2 passes it on to the spy. */
    pause(wanted: boolean): void {
      paused = wanted
      if (wanted) stream?.pause()
      else stream?.resume()
    },
    close: () => end('closed'),
  }
}

/** The spy sends nothing until it has a message, so only the connection tells that it is there. The first failure counts. */
function whenConnected(client: Client, closed: () => boolean, done: (problem?: string) => void): void {
  const channel = client.getChannel()
  const deadline = Date.now() + connectTimeoutMs
  const look = () => {
    // A closed channel throws when it is asked for its state.
    if (closed()) return
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) return done()
    if (state === connectivityState.TRANSIENT_FAILURE) return done('refused')
    channel.watchConnectivityState(state, deadline, (late) => (late && !closed() ? done('no answer in time') : look()))
  }
  look()
}

function request(client: Client, filters: readonly SpyFilter[]): ClientReadableStream<{ vaaBytes: Uint8Array }> {
  const definition = loadSync('spy/v1/spy.proto', { includeDirs: [fileURLToPath(new URL('./protos', import.meta.url))], oneofs: true })
  const method = (definition['spy.v1.SpyRPCService'] as ServiceDefinition)['SubscribeSignedVAA']
  if (!method) throw new Error('intake/spy/protos has no SubscribeSignedVAA')
  const entries = filters.map(({ chain, emitter }) => ({ emitterFilter: { chainId: chain, emitterAddress: emitter } }))
  return client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize as (bytes: Buffer) => { vaaBytes: Uint8Array },
    { filters: entries },
  )
}
