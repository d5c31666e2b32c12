import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { AccessSource } from '../operations/access/keys.ts'
import type { ExecutorProvider } from '../bridges/executor/provider.ts'
import type { RequestsOf } from '../bridges/executor/status.ts'
import type { Bridges, PriceOf } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import type { LaneSpending } from '../chains/signing-port.ts'
import type { Config } from '../config/schema/schema.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { SpyHealth } from '../intake/spy/spy.ts'
import type { Submitter } from '../intake/submit/submitter.ts'
import type { VaaLookup } from '../intake/submit/vaa-lookup.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Logger } from '../observability/logger.ts'
import type { StreamAudit } from '../intake/streams/scanned/audit.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'

export interface ApiDeps {
  readonly config: Pick<
    Config,
    'api' | 'audit' | 'bridges' | 'chains' | 'dataFolder' | 'notifications' | 'priceFeed' | 'streams' | 'worker' | 'temporal'
  >
  readonly access: AccessSource
  readonly settings: () => Settings
  readonly client: TemporalClient
  readonly submitter: Submitter
  readonly network: {
    readonly bridges: Bridges
    readonly chains: ReadonlyMap<ChainName, Chain>
    readonly vaaLookup: VaaLookup
    readonly priceOf?: PriceOf | undefined
  }
  readonly metrics: Metrics
  readonly logger: Logger
  /** Whether another part of this process reads the streams and sets their metrics, so that the API need not. */
  readonly feedsStreams: boolean
  readonly spies?: (() => readonly SpyHealth[]) | undefined
  readonly heartbeatMs?: number
  readonly auditStream: (stream: string, stopping: AbortSignal) => Promise<StreamAudit>
  readonly spending?: (() => readonly LaneSpending[]) | undefined
  /** Absent if this process has no quoter key. */
  readonly executor?: ExecutorProvider | undefined
  /** Absent if this process has no source of requests for execution. */
  readonly requestsOf?: RequestsOf | undefined
}

export type Api = Parameters<FastifyPluginCallbackZod>[0]
