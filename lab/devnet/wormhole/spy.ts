import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type ServerWritableStream, type ServiceDefinition, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { freePort } from '../ports.ts'

/** A guardian spy like the real one (node/cmd/spy). Sends VAAs over gRPC as soon as they are signed, without replay. */
export interface Spy {
  /** host:port. `stop` and `start` do not change the address. */
  readonly address: string
  readonly subscribers: number
  /** Sends a VAA once per matching filter, or once without filters. Without a subscriber the VAA is lost. */
  publish(vaa: Uint8Array, emitterChain: number, emitter: string): void
  /** Writes bytes that are not a protocol message to every stream, like a hostile spy. */
  publishRaw(bytes: Uint8Array): void
  start(): Promise<void>
  stop(): Promise<void>
}

export interface SpyOptions {
  readonly port?: number
  /** Time after which a subscriber that takes no message is dropped, ms. Default 5,000, as in the real spy. */
  readonly sendTimeoutMs?: number
}

interface Filter {
  readonly chain: number
  readonly emitter: string
}

interface FilterEntry {
  filter?: string
  emitterFilter?: { chainId: number; emitterAddress: string }
}

type Answer = { vaaBytes: Buffer } | { raw: Buffer }
type Stream = ServerWritableStream<{ filters: FilterEntry[] }, Answer>

interface Subscriber {
  readonly filters: readonly Filter[]
  push(answer: Answer): void
  end(): void
}

export async function startSpy(options: SpyOptions = {}): Promise<Spy> {
  const port = options.port ?? (await freePort())
  const address = `127.0.0.1:${port}`
  const subscribers = new Set<Subscriber>()
  let server: Server | undefined
  const subscribe = (stream: Stream) => {
    const filters = parseFilters(stream.request.filters)
    if ('problem' in filters) {
      stream.emit('error', { code: status.INVALID_ARGUMENT, details: filters.problem })
      return
    }
    const subscriber = subscriberOf(stream, filters.filters, options.sendTimeoutMs ?? 5_000)
    const leave = () => {
      subscribers.delete(subscriber)
      subscriber.end()
    }
    subscribers.add(subscriber)
    for (const event of ['cancelled', 'close', 'error']) stream.on(event, leave)
  }
  const spy: Spy = {
    address,
    get subscribers() {
      return subscribers.size
    },
    publish(vaa, emitterChain, emitter) {
      const answer = { vaaBytes: Buffer.from(vaa) }
      for (const { filters, push } of subscribers) {
        const matches = filters.filter((filter) => filter.chain === emitterChain && filter.emitter === emitter).length
        for (let sent = 0; sent < (filters.length === 0 ? 1 : matches); sent++) push(answer)
      }
    },
    publishRaw(bytes) {
      for (const { push } of subscribers) push({ raw: Buffer.from(bytes) })
    },
    async start() {
      if (server) return
      const made = new Server()
      made.addService(withRaw(spyService()), { SubscribeSignedVAA: subscribe })
      await new Promise<void>((resolve, reject) => {
        made.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()))
      })
      server = made
    },
    async stop() {
      server?.forceShutdown()
      server = undefined
      subscribers.clear()
    },
  }
  await spy.start()
  return spy
}

/**
 * Reads the filters of a subscription. Accepts only emitter filters. Addresses are hex of at most 32 bytes, padded on
 * the left (vaa.StringToAddress).
 */
function parseFilters(entries: readonly FilterEntry[]): { filters: Filter[] } | { problem: string } {
  const filters: Filter[] = []
  for (const { emitterFilter } of entries) {
    if (!emitterFilter) return { problem: 'unsupported filter type' }
    const emitter = emitterFilter.emitterAddress.replace(/^0x/, '').toLowerCase()
    if (!/^([0-9a-f]{2}){0,32}$/.test(emitter)) return { problem: 'failed to decode emitter address' }
    if (emitterFilter.chainId > 65_535) return { problem: 'emitter chain id must be a valid 16 bit unsigned integer' }
    filters.push({ chain: emitterFilter.chainId, emitter: emitter.padStart(64, '0') })
  }
  return { filters }
}

/** Writes one message at a time. Ends the stream if the subscriber does not take a message in time. */
function subscriberOf(stream: Stream, filters: readonly Filter[], sendTimeoutMs: number): Subscriber {
  const queue: Answer[] = []
  let sending = false
  let ended = false
  let timer: NodeJS.Timeout | undefined
  const tooSlow = () => stream.emit('error', { code: status.DEADLINE_EXCEEDED, details: 'too slow' })
  const pump = () => {
    const answer = ended ? undefined : queue.shift()
    sending = answer !== undefined
    if (answer === undefined) return
    timer = setTimeout(tooSlow, sendTimeoutMs)
    stream.write(answer, () => {
      clearTimeout(timer)
      pump()
    })
  }
  return {
    filters,
    push(answer) {
      queue.push(answer)
      if (!sending) pump()
    },
    end() {
      ended = true
      clearTimeout(timer)
      queue.length = 0
    },
  }
}

function withRaw(service: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, method]) => {
      const responseSerialize = (answer: Answer) => ('raw' in answer ? answer.raw : method.responseSerialize(answer))
      return [name, { ...method, responseSerialize }]
    }),
  )
}

/** The spy's service, from Portage's own protocol files. */
export function spyService(): ServiceDefinition {
  const protos = fileURLToPath(new URL('../../../intake/spy/protos', import.meta.url))
  const definition = loadSync('spy/v1/spy.proto', { includeDirs: [protos], longs: String, oneofs: true, defaults: false, arrays: true })
  return definition['spy.v1.SpyRPCService'] as ServiceDefinition
}
