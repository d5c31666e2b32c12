import type { Logger } from '../observability/logger.ts'

/** What a process may be. */
export const roles = ['all', 'chain', 'lane', 'ledger', 'intake', 'api'] as const
export type Role = (typeof roles)[number]

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
  /** Serve only these chains. */
  readonly chains?: readonly string[]
  /** Serve only the lanes with these addresses. */
  readonly lanes?: readonly string[]
  /** Ends a start that waits for what is not there yet; nothing after that. */
  readonly stopping?: AbortSignal
}
