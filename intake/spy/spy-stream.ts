import { fileURLToPath } from 'node:url'
import { Client, type ClientReadableStream, connectivityState, credentials, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { printable } from '../../domain/text/printable.ts'

export interface SpyFilter {
  readonly chain: number
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
}

interface SpyStreamHandlers {
  /** Called once, when the spy is connected and the subscription was requested. */
  readonly onOpen: () => void
  readonly onMessage: (vaa: Uint8Array) => void
  readonly onEnd: (reason: string) => void
}

export type SpyStream = ReturnType<typeof openSpyStream>

const connectTimeoutMs = 10_000
/** Finds a dead connection. Go servers close connections with pings more often than every 5 minutes (grpc-go). */
const keepaliveMs = 310_000

const nothing = new Uint8Array()

/** One subscription to a guardian spy at host:port. No filters: all messages. It ends once and is not opened again. */
export function openSpyStream(address: string, filters: readonly SpyFilter[], handlers: SpyStreamHandlers) {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': 20_000,
    // The subscription reconnects by itself. Shared connections would keep gRPC's own back-off of up to two minutes.
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
    // proto3 omits empty fields.
    stream.on('data', ({ vaaBytes = nothing }: { vaaBytes?: Uint8Array }) => ended || handlers.onMessage(vaaBytes))
    // The spy's own text is shown and logged.
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
    /** HTTP/2's flow control then stops or resumes the spy. */
    pause(wanted: boolean): void {
      paused = wanted
      if (wanted) stream?.pause()
      else stream?.resume()
    },
    close: () => end('closed'),
  }
}

/** Until its first message, only the connection shows that the spy is there. The first failure ends the wait. */
function whenConnected(client: Client, closed: () => boolean, done: (problem?: string) => void): void {
  const channel = client.getChannel()
  const deadline = Date.now() + connectTimeoutMs
  const check = () => {
    // A closed channel throws when its state is read.
    if (closed()) return
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) return done()
    if (state === connectivityState.TRANSIENT_FAILURE) return done('refused')
    channel.watchConnectivityState(state, deadline, (late) => (late && !closed() ? done('no answer in time') : check()))
  }
  check()
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
