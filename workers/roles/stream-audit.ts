import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import type { SignedSource } from '../../bridges/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type AuditLimits, auditWithin, StreamClient } from '../../intake/streams/stream-client.ts'
import { auditOnce } from '../../intake/streams/scanned/agent.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit.ts'
import { createSignedAuditor } from '../../intake/streams/signed/audit/audit.ts'
import type { Logger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createContext, type ProcessContext } from './context.ts'
import { scannedOptions, signedOptions } from './intake.ts'
import { connectNetwork } from './network.ts'

/** Audits a stream, as the intake does. Throws STREAM_NOT_FOUND, and what connecting and reading throw. */
export async function auditNow(client: TemporalClient, config: Config, stream: string, logger: Logger): Promise<StreamAudit> {
  const target = stream.split(':')[2] ?? ''
  // Only the chains of the route: an outage of another chain does not matter.
  const network = await connectNetwork(config, { only: config.chains[target] ? [target] : undefined })
  try {
    const now = await readSettings(client)
    const context = createContext({ config, client, network, settings: () => now, logger, metrics: createMetrics() })
    return await auditHere(context, stream)
  } finally {
    network.close()
  }
}

/** With the chains of a running process. Throws STREAM_NOT_FOUND, STREAM_AUDIT_UNENDED, and what reading throws. */
export async function auditHere(context: ProcessContext, stream: string, limits: AuditLimits = {}): Promise<StreamAudit> {
  const { bridges } = context.network
  const source = [...bridges.values()].flatMap(({ sources }) => sources).find(({ config: { stream: id } }) => id === stream)
  if (!source) throw unknown(stream, 'No route of this config is this stream.')
  return source.kind === 'scanned' ? auditOnce(scannedOptions(context, source), limits) : auditSigned(context, source, limits)
}

function auditSigned(context: ProcessContext, source: SignedSource, limits: AuditLimits): Promise<StreamAudit> {
  const { client, logger } = context
  const options = signedOptions(context).find((one) => one.source === source)
  const streamClient = new StreamClient({ client, config: source.config, logger })
  return auditWithin(streamClient, source.config.stream, limits, async () => {
    if (!options || !(await streamClient.state())) throw unknown(source.config.stream)
    // One round: new gaps are fetched at once, and the server is asked whether transfers run.
    const auditor = createSignedAuditor({ ...options, streamClient, freshMs: 0, lostAfterMs: 0 }, options.auditMs)
    const { upTo, height, delivered, started, restarted, closed, undone } = await auditor.audit()
    const gaps = Object.values(streamClient.view?.gaps ?? {}).reduce((sum, numbers) => sum + Number(numbers), 0)
    return { upTo, height, gaps, completed: delivered, started: started + restarted, closed, undone }
  })
}

function unknown(stream: string, detail?: string): RelayerError {
  return new RelayerError('STREAM_NOT_FOUND', { ...(detail && { detail }), facts: { stream } })
}
