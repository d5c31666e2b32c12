import type { ScannedSource } from '../bridges/source-port.ts'
import { haltOf } from '../domain/settings/settings.ts'
import { createCheckpointStore } from '../streams/checkpoints.ts'
import { createScannedAgent, type ScannedAgentOptions } from '../streams/scanned/agent.ts'
import type { ProcessContext, Service } from './context.ts'

/** Feeds the streams of all sources that this process serves. */
export function startStreams(context: ProcessContext): Service {
  const { network, metrics, config } = context
  const { checkpoints } = config.streams
  const store = checkpoints && createCheckpointStore(checkpoints)
  const agents = [...network.bridges.values()]
    .flatMap(({ sources }) => sources)
    .filter((source): source is ScannedSource => source.kind === 'scanned')
    .map((source) => createScannedAgent({ ...scannedOptions(context, source), checkpoints: store }))
  const reports = agents.map((agent) => metrics.onCollect((all) => agent.report(all)))
  for (const agent of agents) agent.start()
  return {
    async stop() {
      for (const end of reports) end()
      await Promise.all(agents.map((agent) => agent.stop()))
    },
  }
}

/** The options of the agent of a source. Throws Error for a source of another network. */
export function scannedOptions(context: ProcessContext, source: ScannedSource): Omit<ScannedAgentOptions, 'checkpoints'> {
  const { config, client, network, settings, logger, submitter, haltRoute } = context
  const { bridges, chains } = network
  const { bridge, sourceChain, targetChain } = source
  const [from, to, endpoint] = [chains.get(sourceChain), chains.get(targetChain), bridges.get(bridge)?.endpoint(targetChain)]
  if (!from || !to || !endpoint) throw new Error(`${source.config.stream} is not of this network`)
  return {
    source,
    sourceChain: from,
    targetChain: to,
    endpoint,
    client,
    submitter,
    haltRoute,
    isHalted: () => haltOf(settings(), source) !== undefined,
    logger,
    rangeBlocks: config.streams.rangeBlocks,
    auditMs: config.streams.auditMinutes * 60_000,
  }
}
