import type { StreamConfig, StreamState, StreamView } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Step } from './loop.ts'
import type { StreamClient } from './stream-client.ts'

export interface ConfiguredSource {
  readonly config: StreamConfig
  readonly begins?: { readonly first?: string }
}

/** Changed values of the config that are used only when a stream begins. */
export function ignoredChanges({ config: began }: Pick<StreamState, 'config'>, { config, begins }: ConfiguredSource) {
  const { stream, start } = config
  const changes: { field: 'startBlock' | 'first'; began: number | string; configured: number | string; remedy: string }[] = []
  if (start !== undefined && began.start !== undefined && start !== began.start) {
    const remedy =
      start < began.start
        ? `To read the blocks below as well: portage stream backfill ${stream} --from ${start} --to ${began.start - 1}`
        : 'Nothing: the stream has read more blocks than the config asks for.'
    changes.push({ field: 'startBlock', began: began.start, configured: start, remedy })
  }
  if (begins?.first !== undefined && begins.first !== began.first) {
    const remedy =
      BigInt(begins.first) < BigInt(began.first)
        ? 'Lower numbers are delivered if the spy sends them, but are not looked up: run portage transfer submit.'
        : 'Nothing: the stream covers more numbers than the config asks for.'
    changes.push({ field: 'first', began: began.first, configured: begins.first, remedy })
  }
  return changes
}

/**
 * Returns a step that sends the config if the stream has another one: once, and again after Temporal was restored. If
 * the configs of processes differ, the config that was sent last applies.
 */
export function createConfigReporter(
  source: ConfiguredSource,
  streamClient: Pick<StreamClient, 'view' | 'era' | 'state' | 'apply'>,
  logger: Logger,
): Step {
  const { stream, origin, maxOpen } = source.config
  let appliedIn: number | undefined
  let warned = false

  function logLimit({ most, ordered }: StreamView['maxOpen'], before: number): void {
    const facts = { stream, maxOpen: most }
    if (ordered) logger.info('maxOpen of the config is ignored: an order outranks it', { ...facts, configured: maxOpen, by: ordered.by })
    else logger.info('maxOpen is as configured', { ...facts, before })
  }

  return async () => {
    const { view, era } = streamClient
    if (!view || appliedIn === era) return false
    const state = await streamClient.state()
    if (!state) return false
    const { config } = state
    if (config.stream !== stream || config.origin !== origin || config.maxOpen !== maxOpen) {
      const response = await streamClient.apply([{ kind: 'configured', stream, origin, maxOpen }], era)
      if (!response) return false
      if (config.maxOpen !== maxOpen) logLimit(response.view.maxOpen, state.maxOpen)
    }
    for (const { field, ...facts } of warned ? [] : ignoredChanges(state, source))
      logger.warn(`${field} applies only when a stream begins`, { code: 'STREAM_BEGAN_OTHERWISE', stream, field, ...facts })
    warned = true
    appliedIn = era
    return false
  }
}
