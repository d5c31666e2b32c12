import type { Config } from '../config/schema.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { HaltRoute } from '../intake/halt-route.ts'
import { createSubmitter, type Submitter } from '../intake/submitter.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import type { Network } from './network.ts'
import { createRouteHalts } from './route-halts.ts'

/** What a process is made of, whatever its role. */
export interface ProcessParts {
  readonly config: Config
  readonly client: TemporalClient
  readonly network: Network
  /** As they are now. */
  readonly settings: () => Settings
  readonly logger: Logger
  readonly metrics: Metrics
}

/** The same with what its roles share. */
export interface ProcessContext extends ProcessParts {
  readonly submitter: Submitter
  readonly haltRoute: HaltRoute
}

/** A part of a process beside its Temporal Workers. It may be stopped twice. */
export interface Service {
  stop(): Promise<void>
}

export function createContext(parts: ProcessParts): ProcessContext {
  const { config, client, network, settings } = parts
  const { priority, deadlineMinutes } = config.transfers
  const defaults = { priority, ...(deadlineMinutes !== undefined && { withinMs: deadlineMinutes * 60_000 }) }
  return {
    ...parts,
    submitter: createSubmitter({ bridges: network.bridges, client, settings, defaults }),
    haltRoute: createRouteHalts(parts),
  }
}
