import type { Client } from '@temporalio/client'
import { readSettings } from '../api/settings.ts'
import type { Source } from '../bridges/source-port.ts'
import type { Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { StreamAudit } from '../intake/streams/audit-transfers.ts'
import { auditOnce } from '../intake/streams/scanned-agent.ts'
import type { Logger } from '../observability/logger.ts'
import { createMetrics } from '../observability/metrics.ts'
import { closeWorld, connectWorld } from '../workers/deps.ts'
import type { World } from '../workers/deps.ts'
import { scannedDeps } from '../workers/streams.ts'

/**
 * One audit of a stream by this very process, with the chains of its config: what the intake does every `streams.auditMinutes`. What it finds is
 * told to the stream and started, as an agent would. Throws STREAM_NOT_FOUND, and what connecting and reading throw.
 */
export async function auditNow(client: Client, config: Config, stream: string, logger: Logger): Promise<StreamAudit> {
  const target = stream.split(':')[2] ?? ''
  // Of a route its two chains are enough: one that is down elsewhere is in nobody's way.
  const world = await connectWorld(config, config.chains[target] ? [target] : undefined)
  try {
    const source = sourceOf(world, stream)
    const now = await readSettings(client)
    if (source.kind === 'signed')
      throw new RelayerError('INPUT_INVALID', { detail: 'a stream of signed messages is audited by its intake only' })
    return await auditOnce(
      scannedDeps({ config, temporal: { client }, world, settings: () => now, logger, metrics: createMetrics() }, source),
    )
  } finally {
    closeWorld(world)
  }
}

/** Throws STREAM_NOT_FOUND for one that no route of the config has. */
function sourceOf({ bridges }: World, stream: string): Source {
  const source = [...bridges.values()].flatMap(({ sources }) => sources).find(({ config }) => config.stream === stream)
  if (!source) throw new RelayerError('STREAM_NOT_FOUND', { detail: 'No route of this config is this stream.', facts: { stream } })
  return source
}
