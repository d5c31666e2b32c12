import type { StreamConfig, StreamState } from '../domain/stream/stream.ts'
import type { Logger } from '../observability/logger.ts'
import type { StreamClient } from './stream-client.ts'

/** A key of the config that acts only where a stream begins, and says something else than the stream began with. */
export interface IgnoredChange {
  readonly field: 'startBlock' | 'first'
  readonly began: number | string
  readonly configured: number | string
  readonly remedy: string
}

/** What the config of a source says of where it begins. */
export interface ConfiguredSource {
  readonly config: StreamConfig
  /** Of a signed source: what the config says itself; absent: nothing. */
  readonly begins?: { readonly first?: string }
}

/** What came too late for a stream that runs. */
export function ignoredChanges(
  { config: began }: Pick<StreamState, 'config'>,
  { config, begins }: ConfiguredSource,
): readonly IgnoredChange[] {
  const { stream, start } = config
  const late: IgnoredChange[] = []
  if (start !== undefined && began.start !== undefined && start !== began.start) {
    const remedy =
      start < began.start
        ? `To read what lies below as well: portage stream backfill ${stream} --from ${start} --to ${began.start - 1}`
        : 'Nothing: more was read than is asked for.'
    late.push({ field: 'startBlock', began: began.start, configured: start, remedy })
  }
  if (begins?.first !== undefined && begins.first !== began.first) {
    const remedy =
      BigInt(begins.first) < BigInt(began.first)
        ? 'What lies below is delivered where it is heard of, and not looked for: portage transfer submit.'
        : 'Nothing: more is looked after than is asked for.'
    late.push({ field: 'first', began: began.first, configured: begins.first, remedy })
  }
  return late
}

/**
 * Tells a stream that runs already what the config says by now, once per process and again if the stream has gone back: the process that started last
 * is believed. The answer is a look of a loop; there is nothing to do before the stream was heard of.
 */
export function createConfigReporter(options: {
  readonly wanted: ConfiguredSource
  readonly streamClient: Pick<StreamClient, 'view' | 'era' | 'state' | 'apply'>
  readonly logger: Logger
}): () => Promise<boolean> {
  const { wanted, streamClient, logger } = options
  const { stream, maxOpen } = wanted.config
  let toldIn: number | undefined
  let complained = false

  return async () => {
    const { view, era } = streamClient
    if (!view || toldIn === era) return false
    const state = await streamClient.state()
    if (!state) return false
    if (state.config.maxOpen !== maxOpen) {
      const told = await streamClient.apply([{ kind: 'configured', maxOpen }], era)
      if (!told) return false
      const { most, ordered } = told.view.maxOpen ?? {}
      if (ordered)
        logger.info('the config says another maxOpen; an order holds', { stream, maxOpen: most, configured: maxOpen, by: ordered.by })
      else logger.info('maxOpen is as configured', { stream, before: state.maxOpen, maxOpen: most })
    }
    if (!complained) {
      for (const { field, began, configured, remedy } of ignoredChanges(state, wanted))
        logger.warn(`${field} acts only where a stream begins, and this one runs already`, { stream, began, configured, remedy })
    }
    complained = true
    toldIn = era
    return false
  }
}
