import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Bridges } from '../bridges/port.ts'
import type { Submitter } from '../intake/submitter.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Logger } from '../observability/logger.ts'
import type { KnownNames } from '../domain/settings/known-names.ts'
import type { TemporalClient } from '../temporal/client/client.ts'

/** A dependency of this process. `check` resolves if it works and throws the reason if not. */
export interface HealthProbe {
  readonly name: string
  /** False: the process is ready without it, and reports it. Default: true. */
  readonly vital?: boolean
  check(): Promise<void>
}

export interface ApiDeps {
  readonly submitter: Submitter
  readonly bridges: Bridges
  readonly client: TemporalClient
  /** Guardian REST APIs that signed messages are fetched from, in order of preference. */
  readonly guardianApis: readonly string[]
  readonly metrics: Metrics
  readonly logger: Logger
  /** Finalized height of a chain; undefined for one that this process does not read. Absent: it reads none. */
  readonly finalizedHeight?: (chain: string) => number | undefined
  /** This process feeds the streams, and so sets their metrics itself. Default: false. */
  readonly feedsStreams?: boolean
  /** Beside Temporal, which is always checked. */
  readonly health: readonly HealthProbe[]
}

export interface ApiOptions {
  /** Most requests from one address in a minute. */
  readonly requestsPerMinute: number
  /** Wormhole's chain ids by chain name, so that a request may name a chain either way. */
  readonly chainIds?: Readonly<Record<string, number>>
  /** The names that a change of the settings may use. */
  readonly known: KnownNames
}

/** The server with zod schemas, to which routes are added. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>
