import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Bridges } from '../bridges/port.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Logger } from '../observability/logger.ts'
import type { KnownNames } from '../domain/settings/known-names.ts'
import type { TemporalClient } from '../temporal/client/client.ts'

/** What who submits may say about how it is delivered. */
export interface SubmitOptions {
  /** 1 (first) … 5. */
  readonly priority?: number | undefined
  /** ms since the epoch. */
  readonly deadline?: number | undefined
}

/** The single door (intake/submitter.ts), as the API needs it. */
export interface Submitter {
  /** Checks a message and starts its transfer. Throws RelayerError. */
  submit(
    bridge: string,
    message: Uint8Array,
    options?: SubmitOptions,
  ): Promise<{ readonly id: string; readonly status: 'started' | 'known'; readonly halted?: string }>
}

/** One thing that must work for this process to be of use. `check` resolves if it does and throws the reason if not. */
export interface HealthProbe {
  readonly name: string
  /** False: without it the process is ready all the same, and only says so. Default: true. */
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
  /** Finalized height of a chain that this process reads; absent: it reads none. */
  readonly finalizedHeight?: (chain: string) => number | undefined
  /** This process feeds the streams, and so tells their metrics itself. Default: it does not. */
  readonly feedsStreams?: boolean
  /** Beside Temporal, which is always looked at. */
  readonly health: readonly HealthProbe[]
}

export interface ApiOptions {
  /** Most requests of one address in a minute. */
  readonly requestsPerMinute: number
  /** Wormhole's chain ids by chain name, so that a request may name a chain either way. */
  readonly chainIds?: Readonly<Record<string, number>>
  /** What a change of the settings may name. */
  readonly known: KnownNames
}

/** The API while routes are added: every schema is zod's. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>
