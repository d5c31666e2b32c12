import type { Config } from '../../config/schema/schema.ts'
import { type Cause, isStuck } from '../../domain/catalogue/cause.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { explain } from './explain.ts'
import type { Read } from './facts.ts'
import { probeChains } from './probe-chain.ts'
import { probeSpies } from './probe-spy.ts'
import { limits, read } from './read.ts'
import { readTemporal, temporalProblem, withoutTemporal } from './read-temporal.ts'

export interface CausesOptions {
  readonly config: Pick<Config, 'chains' | 'bridges' | 'notifications'>
  /** For the URLs of nodes that operators added. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** This process's subscriptions to guardian spies. Without them, a connection shows whether a spy is there. */
  readonly spies?: (() => readonly SpyHealth[]) | undefined
}

/** `portage stuck --json` and `GET /v1/stuck`. */
export interface CauseReport {
  /** When the reading began, ISO 8601. */
  readonly asOf: string
  readonly stuck: boolean
  /** The most harmful first. */
  readonly causes: readonly Cause[]
}

/**
 * Finds every cause that keeps something from going on. All sources are read at the same time, each with its own time
 * limit; a source that does not answer is a cause itself. Never throws. With c chains, l lanes, s streams and r
 * receivers: at most 10 + r visibility queries; 2 l + s + c + 2 r + 3 calls to Temporal, one for each workflow of the
 * queue `ledger` and 80 for transfers; 4 calls for each node, 3 for each lane and one for each chain.
 * @param temporal a client, or why there is none
 */
export async function collectCauses(temporal: TemporalClient | RelayerError, options: CausesOptions): Promise<CauseReport> {
  const { config } = options
  const at = Date.now()
  const problem = temporal instanceof RelayerError ? Promise.resolve(temporal) : temporalProblem(temporal)
  const settings = problem.then((error): Promise<Read<Settings>> | Read<Settings> => {
    if (temporal instanceof RelayerError) return { asOf: at, error: temporal }
    return error ? { asOf: Date.now(), error } : read(limits.temporalMs + 500, () => readSettings(temporal))
  })
  const [facts, chains, spies] = await Promise.all([
    problem.then((error) => {
      if (temporal instanceof RelayerError) return withoutTemporal(temporal)
      return error ? withoutTemporal(error) : readTemporal(temporal, config, settings)
    }),
    probeChains(options, settings),
    probeSpies(config, options.spies),
  ])
  const causes = explain({ at: Date.now(), ...facts, chains, spies }, config)
  return { asOf: new Date(at).toISOString(), stuck: isStuck(causes), causes }
}
