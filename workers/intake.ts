import { spySources } from '../bridges/registry.ts'
import { createSpyIntake } from '../intake/spy.ts'
import type { ProcessContext, Service } from './context.ts'
import { startSignedStreams } from './signed-streams.ts'

/** Listens to the guardian spies of the config, and feeds the streams that find what a spy has missed. */
export function startIntake(context: ProcessContext): Service {
  const { config, submitter, logger, metrics } = context
  const { service: streams, listener } = startSignedStreams(context)
  const spies = spySources(config).map((source) => createSpyIntake({ ...source, submitter, logger, metrics, listener }))
  for (const spy of spies) spy.start()
  return {
    stop: async () => {
      await Promise.all(spies.map((spy) => spy.stop()))
      await streams.stop()
    },
  }
}
