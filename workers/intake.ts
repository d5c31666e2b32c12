import { spySources } from '../bridges/registry.ts'
import type { Config } from '../config/schema.ts'
import { createSpyIntake } from '../intake/spy.ts'
import { createSubmitter } from '../intake/submitter.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { transferDefaults } from './deps.ts'
import type { Network } from './network.ts'
import { startSignedStreams } from './signed-streams.ts'
import type { Service } from './service.ts'
import type { Temporal } from './temporal.ts'

/** Listens to the guardian spies of the config, and proves that nothing of what they were to tell is missed. */
export function startIntake(options: {
  config: Config
  temporal: Temporal
  network: Network
  settings: () => Settings
  logger: Logger
  metrics: Metrics
}): Service {
  const { config, temporal, network, settings, logger, metrics } = options
  const submitter = createSubmitter({ bridges: network.bridges, client: temporal.client, settings, defaults: transferDefaults(config) })
  const { service: streams, listener } = startSignedStreams({ config, temporal, network, submitter, logger, metrics })
  const spies = spySources(config).map((source) => createSpyIntake({ ...source, submitter, logger, metrics, listener }))
  for (const spy of spies) spy.start()
  return {
    stop: async () => {
      await Promise.all(spies.map((spy) => spy.stop()))
      await streams.stop()
    },
  }
}
