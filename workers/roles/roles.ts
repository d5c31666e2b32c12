import type { AccessSource } from '../../operations/access/key-ring.ts'
import type { LaneSpending } from '../../chains/signing-port.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit-transfers.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import type { Logger } from '../../observability/logger.ts'
import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ProcessContext, Service } from './context.ts'

/** The roles of a process. */
export const roles = ['all', 'chain', 'lane', 'ledger', 'intake', 'api'] as const
export type Role = (typeof roles)[number]

/** Answers in the place of the REST API while the process waits for what it cannot start without. */
export interface StartupServer {
  /** Says what is waited for, and begins to listen the first time. Throws API_LISTEN if it cannot. */
  say(what: string, error: RelayerError): Promise<void>
  /** Leaves the port to the API. */
  close(): Promise<void>
}

/** The REST API, which the roles `all` and `api` serve. Handed in by whoever starts a role: workers do not import `api`. */
export interface RestApi {
  createStartupServer(listen: { readonly host: string; readonly port: number; readonly hosts: readonly string[] }): StartupServer
  /** @param context.feedsStreams this process feeds the streams, too, and so sets their metrics itself; context.spies: its subscriptions to guardian spies; context.spending: of the keys that it holds; context.auditStream: audits a stream now, with the chains of this process */
  start(
    context: ProcessContext & {
      readonly feedsStreams: boolean
      readonly access: AccessSource
      readonly spies?: (() => readonly SpyHealth[]) | undefined
      readonly spending: () => readonly LaneSpending[]
      readonly auditStream: (stream: string, stopping: AbortSignal) => Promise<StreamAudit>
    },
  ): Promise<Service>
}

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
  readonly api: RestApi
  /** Serve only these chains. */
  readonly chains?: readonly string[]
  /** Serve only the lanes with these addresses. */
  readonly lanes?: readonly string[]
  /** Ends a start that waits for its dependencies; without effect after that. */
  readonly stopping?: AbortSignal
}
