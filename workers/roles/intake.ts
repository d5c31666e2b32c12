import { checkpointPlaceOf } from '../../config/data-folder.ts'
import { spySources, streamNames } from '../../bridges/configured-emitters.ts'
import type { PlacedSource, ScannedSource, SignedSource } from '../../bridges/port.ts'
import { haltOf } from '../../domain/settings/settings.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { createSpyIntake, type SpyHealth, type SpyIntake, type SpyListener } from '../../intake/spy/spy.ts'
import { createCheckpointStore } from '../../intake/streams/checkpoints.ts'
import { missingIn } from '../../intake/streams/number-status.ts'
import { auditOnce, createScannedAgent, type ScannedAgentOptions } from '../../intake/streams/scanned/agent.ts'
import { createSignedAgent, type SignedAgentOptions } from '../../intake/streams/signed/agent.ts'
import { chainWithoutNode } from '../../intake/streams/signed/bootstrap.ts'
import { createMetrics, type Metrics } from '../../observability/metrics.ts'
import type { Service } from '../../runtime/wait.ts'
import { createContext, type ProcessContext } from './context.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type AuditLimits, auditWithin, StreamClient } from '../../intake/streams/stream-client.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit.ts'
import { createSignedAuditor } from '../../intake/streams/signed/audit/audit.ts'
import type { Logger } from '../../observability/logger.ts'
import { connectNetwork } from './network.ts'

export function startIntake(context: ProcessContext): Service & { spies(): readonly SpyHealth[] } {
  const { config, network, submitter, logger, metrics } = context
  const signed = new Map(signedOptions(context).map((options) => [keyOf(options.source), createSignedAgent(options)]))
  // Only a process with all chains reads placed sources, because another process could not start all of their
  // transfers.
  const isWhole = Object.keys(config.chains).every((name) => network.served.includes(name))
  const sources = [...network.bridges.values()].flatMap((bridge) => bridge.sources)
  const scanned = sources.flatMap((source) =>
    source.kind === 'scanned' || (source.kind === 'placed' && isWhole) ? [createScannedAgent(scannedOptions(context, source))] : [],
  )
  const agents = [...signed.values(), ...scanned]
  const reports = agents.map((agent) => metrics.onCollect((all) => agent.report(all)))
  for (const agent of agents) agent.start()
  const ofStream = (bytes: Uint8Array, pass: (agent: ReturnType<typeof createSignedAgent>, sequence: string) => void) => {
    try {
      const vaa = parseVaa(bytes)
      const agent = signed.get(keyOf(vaa))
      if (agent) pass(agent, vaa.sequence)
    } catch {
      // The submitter has refused these bytes too, because they are not a valid VAA.
    }
  }
  const listener: SpyListener = {
    connected: (spy) => signed.forEach((agent) => agent.connected(spy)),
    disconnected: (spy) => signed.forEach((agent) => agent.disconnected(spy)),
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

function reportSpy(metrics: Metrics, { bridge, address: spy, health }: SpyIntake): void {
  metrics.portage_spy_connected.set({ bridge, spy }, health.connected ? 1 : 0)
  metrics.portage_spy_paused.set({ bridge, spy }, health.paused ? 1 : 0)
  metrics.portage_spy_kept.set({ bridge, spy }, health.kept)
  metrics.portage_spy_unknown_sets.set({ bridge, spy }, health.unknownSets)
}

function commonOptions({ config, client, submitter, logger }: ProcessContext) {
  const { rangeBlocks, auditMinutes, lookBackDays, uncountedAfterMinutes } = config.streams
  const place = checkpointPlaceOf(config)
  const store = place && createCheckpointStore(place, streamNames(config))
  const times = { outsideAfterMs: uncountedAfterMinutes * 60_000, auditMs: auditMinutes * 60_000, lookBackMs: lookBackDays * 86_400_000 }
  return { client, submitter, logger, rangeBlocks, ...times, checkpoints: store }
}

function signedOptions(context: ProcessContext): SignedAgentOptions[] {
  const { bridges, chains, vaaLookup: lookup } = context.network
  return [...bridges.values()].flatMap((bridge) =>
    bridge.sources.flatMap((source) => {
      if (source.kind !== 'signed') return []
      const common = { ...commonOptions(context), source, bridge, lookup }
      if (source.withoutNode) return [{ ...common, chain: chainWithoutNode(source.sourceChain), lookBackMs: 0 }]
      const chain = chains.get(source.sourceChain)
      return chain ? [{ ...common, chain }] : []
    }),
  )
}

function scannedOptions(context: ProcessContext, source: ScannedSource | PlacedSource): ScannedAgentOptions {
  const { network, settings, haltRoute } = context
  const sourceChain = network.chains.get(source.sourceChain)
  const bridge = network.bridges.get(source.bridge)
  if (!sourceChain || !bridge) throw new Error(`${source.config.stream} is not of this network`)
  const { decode, endpoints } = bridge
  const targets = [...endpoints].flatMap(([name, endpoint]) => {
    const chain = network.chains.get(name)
    return chain ? [[name, { chain, endpoint }] as const] : []
  })
  const isHalted = () => source.kind === 'scanned' && haltOf(settings(), source) !== undefined
  return { ...commonOptions(context), source, sourceChain, decode, targets: new Map(targets), haltRoute, isHalted }
}

function keyOf({ emitterChain, emitter }: Pick<SignedSource, 'emitterChain' | 'emitter'>): string {
  return `${emitterChain}/${emitter}`
}

/** Connects and audits a stream. Throws the errors of `connectNetwork` and `auditHere`. */
export async function auditNow(client: TemporalClient, config: Config, stream: string, logger: Logger): Promise<StreamAudit> {
  const target = stream.split(':')[2] ?? ''
  // Only the chains of the route are connected, so an outage of another chain does no harm.
  const network = await connectNetwork(config, { only: config.chains[target] ? [target] : undefined, runsPlugins: true })
  try {
    const now = await readSettings(client)
    const context = createContext({ config, client, network, settings: () => now, logger, metrics: createMetrics() })
    return await auditHere(context, stream)
  } finally {
    network.close()
  }
}

/** Audits a stream over the connections of `context`. Throws STREAM_NOT_FOUND, STREAM_AUDIT_UNENDED and read errors. */
export async function auditHere(context: ProcessContext, stream: string, limits: AuditLimits = {}): Promise<StreamAudit> {
  const { bridges } = context.network
  const source = [...bridges.values()].flatMap(({ sources }) => sources).find(({ config: { stream: id } }) => id === stream)
  if (!source) throw unknown(stream, 'No route of this config belongs to this stream.')
  return source.kind === 'signed' ? auditSigned(context, source, limits) : auditOnce(scannedOptions(context, source), limits)
}

function auditSigned(context: ProcessContext, source: SignedSource, limits: AuditLimits): Promise<StreamAudit> {
  const { client, logger } = context
  const options = signedOptions(context).find((one) => one.source === source)
  const streamClient = new StreamClient({ client, config: source.config, logger })
  return auditWithin(streamClient, source.config.stream, limits, async () => {
    if (!options || !(await streamClient.state())) throw unknown(source.config.stream)
    const auditor = createSignedAuditor({ ...options, streamClient, freshMs: 0, lostAfterMs: 0 }, options.auditMs)
    const { upTo, height, delivered, started, restarted, closed, undone } = await auditor.audit()
    const gaps = streamClient.view ? missingIn(streamClient.view) : 0
    return { upTo, height, gaps, completed: delivered, started: started + restarted, closed, undone }
  })
}

function unknown(stream: string, detail?: string): RelayerError {
  return new RelayerError('STREAM_NOT_FOUND', { ...(detail && { detail }), facts: { stream } })
}
