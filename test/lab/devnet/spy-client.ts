import { fileURLToPath } from 'node:url'
import {
  credentials,
  loadPackageDefinition,
  type ClientReadableStream,
  type GrpcObject,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { until } from '../../../lab/devnet/until.ts'

/** A plain gRPC client of the spy, as any relayer could write it. */
export interface SpyStream {
  readonly received: readonly Buffer[]
  readonly error: ServiceError | undefined
  /** Resolves when that many messages have come. */
  until(count: number): Promise<void>
  ended(): Promise<ServiceError>
  pause(): void
  close(): void
}

export function subscribe(address: string, filters: readonly object[] = []): SpyStream {
  const protos = fileURLToPath(new URL('../../../intake/protos', import.meta.url))
  const root = loadPackageDefinition(loadSync('spy/v1/spy.proto', { includeDirs: [protos] })) as unknown as { spy: { v1: GrpcObject } }
  const client = new (root.spy.v1['SpyRPCService'] as ServiceClientConstructor)(address, credentials.createInsecure())
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
