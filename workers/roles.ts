import type { Logger } from '../observability/logger.ts'
import type { RestApi } from './rest-api.ts'

/** The roles of a process. */
export const roles = ['all', 'chain', 'lane', 'ledger', 'intake', 'api'] as const
export type Role = (typeof roles)[number]

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
