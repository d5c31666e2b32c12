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
  /** Absent: a connection shows whether a spy is there. */
  readonly spies?: (() => readonly SpyHealth[]) | undefined
}

/** `portage stuck --json` and `GET /v1/stuck`. */
export interface CauseReport {
  /** ISO 8601. */
  readonly asOf: string
  readonly stuck: boolean
  readonly causes: readonly Cause[]
}

/** Reads every source at once, each with a limit; a silent one is a cause. Never throws. @param temporal or an error */
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
