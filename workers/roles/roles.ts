import type { ExecutorProvider } from '../../bridges/executor/provider.ts'
import type { AccessSource } from '../../operations/access/keys.ts'
import type { LaneSpending } from '../../chains/signing-port.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import type { Logger } from '../../observability/logger.ts'
import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Service } from '../../runtime/wait.ts'
import type { ProcessContext } from './context.ts'

export const roles = ['all', 'keyless', 'chain', 'lane', 'ledger', 'intake', 'api'] as const
export type Role = (typeof roles)[number]

export function serves(role: Role, one: Exclude<Role, 'all' | 'keyless'>): boolean {
  return role === 'all' || role === one || (role === 'keyless' && one !== 'lane')
}

export function holdsKeys(role: Role): boolean {
  return serves(role, 'lane')
}

/** The REST API. Workers must not import `api`, so the caller passes it in. */
export interface RestApi {
  createStartupServer(listen: { readonly host: string; readonly port: number; readonly hosts: readonly string[] }): {
    say(dependency: string, error: RelayerError): Promise<void>
    close(): Promise<void>
  }
  start(
    context: ProcessContext & {
      readonly feedsStreams: boolean
      readonly access: AccessSource
      readonly spies?: (() => readonly SpyHealth[]) | undefined
      readonly spending: () => readonly LaneSpending[]
      readonly executor?: ExecutorProvider | undefined
      readonly auditStream: (stream: string, stopping: AbortSignal) => Promise<StreamAudit>
    },
  ): Promise<Service>
}

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
  readonly api: RestApi
  readonly chains?: readonly string[]
  readonly lanes?: readonly string[]
  readonly stopping?: AbortSignal
}
