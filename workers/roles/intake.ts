import { checkpointPlaceOf } from '../../config/data-folder.ts'
import { spySources, streamNames } from '../../bridges/registry.ts'
import type { ScannedSource, SignedSource } from '../../bridges/port.ts'
import { haltOf } from '../../domain/settings/settings.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { createSpyIntake, type SpyHealth, type SpyIntake, type SpyListener } from '../../intake/spy/spy.ts'
import { createCheckpointStore } from '../../intake/streams/checkpoints.ts'
import { createScannedAgent, type ScannedAgentOptions } from '../../intake/streams/scanned/agent.ts'
import { createSignedAgent, type SignedAgentOptions } from '../../intake/streams/signed/agent.ts'
import { chainWithoutNode } from '../../intake/streams/signed/bootstrap.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Service } from '../../runtime/wait.ts'
import type { ProcessContext } from './context.ts'

/** Subscribes to guardian spies and feeds the streams of all sources. Streams find messages that a spy missed. */
export function startIntake(context: ProcessContext): Service & { spies(): readonly SpyHealth[] } {
  const { config, network, submitter, logger, metrics } = context
  const signed = new Map(signedOptions(context).map((options) => [keyOf(options.source), createSignedAgent(options)]))
  const sources = [...network.bridges.values()].flatMap((bridge) => bridge.sources).filter((source) => source.kind === 'scanned')
  const scanned = sources.map((source) => createScannedAgent(scannedOptions(context, source)))
  const agents = [...signed.values(), ...scanned]
  const reports = agents.map((agent) => metrics.onCollect((all) => agent.report(all)))
  for (const agent of agents) agent.start()
  const ofStream = (bytes: Uint8Array, tell: (agent: ReturnType<typeof createSignedAgent>, sequence: string) => void) => {
    try {
      const vaa = parseVaa(bytes)
      const agent = signed.get(keyOf(vaa))
      if (agent) tell(agent, vaa.sequence)
    } catch {
      // The submitter has refused it too.
    }
  }
  const listener: SpyListener = {
    connected() {
      for (const agent of signed.values()) agent.connected()
    },
    disconnected() {
      for (const agent of signed.values()) agent.disconnected()
    },
    received: (bytes, outcome) => ofStream(bytes, (agent, sequence) => agent.received(sequence, bytes, outcome)),
    delayed: (bytes, error) => ofStream(bytes, (agent, sequence) => agent.delayed(sequence, bytes, error)),
  }
  const spies = spySources(config).map((source) => createSpyIntake({ ...source, submitter, logger, metrics, listener }))
  for (const spy of spies) spy.start()
  reports.push(metrics.onCollect((all) => spies.forEach((spy) => reportSpy(all, spy))))
  const stopSigned = async () => {
    await Promise.all(spies.map((spy) => spy.stop()))
    await Promise.all([...signed.values()].map((agent) => agent.stop()))
  }
  return {
    spies: () => spies.map((spy) => ({ address: spy.address, ...spy.health })),
    async stop() {
      for (const end of reports) end()
      await Promise.all([stopSigned(), ...scanned.map((agent) => agent.stop())])
    },
  }
}

function reportSpy(metrics: Metrics, { bridge, health }: SpyIntake): void {
  metrics.portage_spy_connected.set({ bridge }, health.connected ? 1 : 0)
  metrics.portage_spy_paused.set({ bridge }, health.paused ? 1 : 0)
  metrics.portage_spy_kept.set({ bridge }, health.kept)
  metrics.portage_spy_unknown_sets.set({ bridge }, health.unknownSets)
}

function commonOptions({ config, client, submitter, logger }: ProcessContext) {
  const { rangeBlocks, auditMinutes, lookBackDays, uncountedAfterMinutes } = config.streams
  const place = checkpointPlaceOf(config)
  const store = place && createCheckpointStore(place, streamNames(config))
  const times = { outsideAfterMs: uncountedAfterMinutes * 60_000, auditMs: auditMinutes * 60_000, lookBackMs: lookBackDays * 86_400_000 }
  return { client, submitter, logger, rangeBlocks, ...times, checkpoints: store }
}

export function signedOptions(context: ProcessContext): SignedAgentOptions[] {
  const { bridges, chains } = context.network
  return [...bridges.values()].flatMap((bridge) => {
    const lookup = context.vaaLookup(bridge.name)
    return bridge.sources.flatMap((source) => {
      if (source.kind !== 'signed') return []
      const common = { ...commonOptions(context), source, bridge, lookup }
      if (source.withoutNode) return [{ ...common, chain: chainWithoutNode(source.sourceChain), lookBackMs: 0 }]
      const chain = chains.get(source.sourceChain)
      return chain ? [{ ...common, chain }] : []
    })
  })
}

/** The options of the agent of a source read from blocks. Throws Error for a source of another network. */
export function scannedOptions(context: ProcessContext, source: ScannedSource): ScannedAgentOptions {
  const { network, settings, haltRoute } = context
  const sourceChain = network.chains.get(source.sourceChain)
  const targetChain = network.chains.get(source.targetChain)
  const endpoint = network.bridges.get(source.bridge)?.endpoint(source.targetChain)
  if (!sourceChain || !targetChain || !endpoint) throw new Error(`${source.config.stream} is not of this network`)
  const isHalted = () => haltOf(settings(), source) !== undefined
  return { ...commonOptions(context), source, sourceChain, targetChain, endpoint, haltRoute, isHalted }
}

function keyOf({ emitterChain, emitter }: Pick<SignedSource, 'emitterChain' | 'emitter'>): string {
  return `${emitterChain}/${emitter}`
}
