import type { RequestOf, StreamConfig, StreamState } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Look } from './loop.ts'
import type { StreamClient } from './stream-client.ts'

/** A key of the config that acts only where a stream begins, and differs from what the stream began with. */
export interface IgnoredChange {
  readonly field: 'startBlock' | 'first'
  readonly began: number | string
  readonly configured: number | string
  readonly remedy: string
}

/** What the config of a source says about its beginning. */
export interface ConfiguredSource {
  readonly config: StreamConfig
  /** Of a signed source: the first number, where the config names one. */
  readonly begins?: { readonly first?: string }
}

/** Changes that come too late for a stream that runs. */
export function ignoredChanges(
  { config: began }: Pick<StreamState, 'config'>,
  { config, begins }: ConfiguredSource,
): readonly IgnoredChange[] {
  const { stream, start } = config
  const changes: IgnoredChange[] = []
  if (start !== undefined && began.start !== undefined && start !== began.start) {
    const remedy =
      start < began.start
        ? `To read the blocks below as well: portage stream backfill ${stream} --from ${start} --to ${began.start - 1}`
        : 'Nothing: more was read than the config asks for.'
    changes.push({ field: 'startBlock', began: began.start, configured: start, remedy })
  }
  if (begins?.first !== undefined && begins.first !== began.first) {
    const remedy =
      BigInt(begins.first) < BigInt(began.first)
        ? 'Numbers below are delivered when the spy tells them, and not looked for: portage transfer submit.'
        : 'Nothing: more numbers are looked after than the config asks for.'
    changes.push({ field: 'first', began: began.first, configured: begins.first, remedy })
  }
  return changes
}

/** The request that tells a stream what this process's config says of it. */
export function configuredBy({ maxOpen, sourceId }: StreamConfig): RequestOf<'configured'> {
  return { kind: 'configured', maxOpen, ...(sourceId !== undefined && { sourceId }) }
}

/** A ledger of an earlier release takes the request and keeps no `sourceId`: until a newer one serves the stream it is told again so often, ms. */
const unkeptMs = 60_000

/** Applies this process's config to a stream that runs already, once, and again if it has gone back: the process that started last wins. */
export function createConfigReporter(
  source: ConfiguredSource,
  streamClient: Pick<StreamClient, 'view' | 'era' | 'state' | 'apply'>,
  logger: Logger,
  againMs = unkeptMs,
): Look {
  const { stream, maxOpen, sourceId } = source.config
  let appliedIn: number | undefined
  let complained = false
  let notBefore = -Infinity

  return async () => {
    const { view, era } = streamClient
    if (!view || appliedIn === era || performance.now() < notBefore) return false
    const state = await streamClient.state()
    if (!state) return false
    const isOther = state.config.maxOpen !== maxOpen
    const isUnnamed = sourceId !== undefined && state.config.sourceId !== sourceId
    const response = isOther || isUnnamed ? await streamClient.apply([configuredBy(source.config)], era) : undefined
    if (!response && (isOther || isUnnamed)) return false
    if (response && isOther) {
      const { most, ordered } = response.view.maxOpen
      const facts = { stream, maxOpen: most }
      if (ordered) logger.info('maxOpen of the config is ignored: an order outranks it', { ...facts, configured: maxOpen, by: ordered.by })
      else logger.info('maxOpen is as configured', { ...facts, before: state.maxOpen })
    }
    for (const { field, ...facts } of complained ? [] : ignoredChanges(state, source))
      logger.warn(`${field} acts only where a stream begins, and this one runs already`, {
        code: 'STREAM_BEGAN_OTHERWISE',
        ...{ stream, field, ...facts },
      })
    complained = true
    const isKept = !isUnnamed || (await streamClient.state())?.config.sourceId === sourceId
    if (isKept) appliedIn = era
    notBefore = isKept ? -Infinity : performance.now() + againMs
    return false
  }
}
