import { credentials, makeClientConstructor, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js'
import { until } from '../../../lab/devnet/until.ts'
import { spyService } from '../../../lab/devnet/wormhole/spy.ts'

export interface SpyStream {
  readonly received: readonly Buffer[]
  readonly error: ServiceError | undefined
  until(count: number): Promise<void>
  ended(): Promise<ServiceError>
  pause(): void
  close(): void
}

export function subscribe(address: string, filters: readonly object[] = []): SpyStream {
  const client = new (makeClientConstructor(spyService(), 'SpyRPCService'))(address, credentials.createInsecure())
  const stream = client['SubscribeSignedVAA']?.({ filters }) as ClientReadableStream<{ vaaBytes: Buffer }>
  const received: Buffer[] = []
  let error: ServiceError | undefined
  stream.on('data', ({ vaaBytes }: { vaaBytes: Buffer }) => received.push(vaaBytes))
  stream.on('error', (reason: ServiceError) => (error = reason))
  return {
    received,
    get error() {
      return error
    },
    until: async (count) => void (await until(() => received.length >= count, { timeoutMs: 60_000, what: `${count} messages of the spy` })),
    ended: () => until(() => error, { timeoutMs: 60_000, what: 'the end of the stream' }),
    pause: () => void stream.pause(),
    close() {
      stream.cancel()
      client.close()
    },
  }
}
