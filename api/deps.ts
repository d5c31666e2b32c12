import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { AccessSource } from '../operations/access/key-ring.ts'
import type { Bridges } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import type { LaneSpending } from '../chains/signing-port.ts'
import type { Config } from '../config/schema/schema.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { SpyHealth } from '../intake/spy/spy.ts'
import type { Submitter } from '../intake/submit/submitter.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Logger } from '../observability/logger.ts'
import type { StreamAudit } from '../intake/streams/scanned/audit-transfers.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import type { FeedOptions } from './events/feed.ts'
import type { ListenerOptions } from './events/listener.ts'

/** What the API needs of its process. */
export interface ApiDeps {
  readonly config: Pick<Config, 'api' | 'audit' | 'bridges' | 'chains' | 'dataFolder' | 'notifications' | 'streams' | 'temporal'>
  readonly access: AccessSource
  /** As they are now. */
  readonly settings: () => Settings
  readonly client: TemporalClient
  readonly submitter: Submitter
  readonly network: { readonly bridges: Bridges; readonly chains: ReadonlyMap<ChainName, Chain> }
  readonly metrics: Metrics
  readonly logger: Logger
  /** This process feeds the streams, and so sets their metrics itself. */
  readonly feedsStreams: boolean
  /** The subscriptions of this process to guardian spies; absent: it has none. */
  readonly spies?: (() => readonly SpyHealth[]) | undefined
  /** Of `GET /v1/events`; shorter ones are for tests. */
  readonly events?: Partial<FeedOptions & ListenerOptions> | undefined
  /** Audits a stream now, with the chains of this process; it ends in any case. Throws STREAM_NOT_FOUND, STREAM_AUDIT_UNENDED, and what reading throws. */
  readonly auditStream: (stream: string, stopping: AbortSignal) => Promise<StreamAudit>
  /** What the keys that this process holds have signed for lately; absent: it holds none. */
  readonly spending?: (() => readonly LaneSpending[]) | undefined
}

/** Finalized height of a chain, by its newest head; undefined for one that this process does not read. */
export function finalizedHeight({ chains }: ApiDeps['network'], chain: ChainName): { finalized: number; headAt: number } | undefined {
  const head = chains.get(chain)?.heads.current
  return head && { finalized: head.finalized, headAt: head.latest.timestamp * 1_000 }
}

/** The server with zod schemas, to which routes are added. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>
