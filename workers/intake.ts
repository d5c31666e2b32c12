import { signedApis, spySources } from '../bridges/registry.ts'
import type { SignedSource } from '../bridges/source-port.ts'
import { parseVaa, type Vaa } from '../domain/vaa.ts'
import { createSpyIntake, type SpyListener } from '../intake/spy.ts'
import { createVaaLookup } from '../intake/vaa-lookup.ts'
import { createCheckpointStore } from '../streams/checkpoints.ts'
import { createSignedAgent, type SignedAgentOptions } from '../streams/signed/agent.ts'
import type { ProcessContext, Service } from './context.ts'

/** Listens to the guardian spies of the config, and feeds the streams of all emitters, which find what a spy has missed. */
export function startIntake(context: ProcessContext): Service {
  const { config, submitter, logger, metrics } = context
  const agents = new Map(signedOptions(context).map((options) => [keyOf(options.source), createSignedAgent(options)]))
  const reports = [...agents.values()].map((agent) => metrics.onCollect((all) => agent.report(all)))
  for (const agent of agents.values()) agent.start()
  const listener: SpyListener = {
    listening() {
      for (const agent of agents.values()) agent.listening()
    },
    heard(vaa, outcome) {
      const message = readable(vaa)
      if (message) agents.get(keyOf(message))?.heard(message.sequence, vaa, outcome)
    },
  }
  const spies = spySources(config).map((source) => createSpyIntake({ ...source, submitter, logger, metrics, listener }))
  for (const spy of spies) spy.start()
  return {
    async stop() {
      await Promise.all(spies.map((spy) => spy.stop()))
      for (const end of reports) end()
      await Promise.all([...agents.values()].map((agent) => agent.stop()))
    },
  }
}

/** The options of the agents. All agents of a bridge share one lookup, whose limits hold for the process. */
export function signedOptions(context: ProcessContext): SignedAgentOptions[] {
  const { config, client, network, submitter, logger } = context
  const { rangeBlocks, auditMinutes, checkpoints } = config.streams
  const store = checkpoints && createCheckpointStore(checkpoints)
  const apis = signedApis(config)
  return [...network.bridges.values()].flatMap((bridge) => {
    const sources = bridge.sources.filter((source): source is SignedSource => source.kind === 'signed')
    const lookup = createVaaLookup(apis.get(bridge.name) ?? { guardianApis: [], wormholescanApis: [] })
    return sources.flatMap((source) => {
      const chain = network.chains.get(source.sourceChain)
      if (!chain) return []
      const auditMs = auditMinutes * 60_000
      return [{ source, chain, bridge, submitter, lookup, client, logger, rangeBlocks, checkpoints: store, auditMs }]
    })
  })
}

function keyOf({ emitterChain, emitter }: Pick<SignedSource, 'emitterChain' | 'emitter'>): string {
  return `${emitterChain}/${emitter}`
}

function readable(bytes: Uint8Array): Vaa | undefined {
  try {
    return parseVaa(bytes)
  } catch {
    return undefined
  }
}
