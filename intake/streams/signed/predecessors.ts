import type { SignedSource } from '../../../bridges/source-port.ts'
import type { StreamConfig, StreamState } from '../../../domain/stream/stream.ts'
import { isSuccessor, mayBeSameSource, succeed, withinCount } from '../../../domain/stream/succession.ts'
import { numberOfUnconfigured } from '../../../domain/transfer/unconfigured-source.ts'
import type { WarningFields } from '../../../observability/logger.ts'
import { problemOf } from '../../../observability/severity.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { queryStream, streamProgress } from '../../../temporal/client/streams/streams.ts'

/** A stream of the same numbers that runs under another name. */
export interface Predecessor {
  readonly stream: string
  readonly state: StreamState
}

/** Strangers may start any number of workflows under names that might be. */
const mostLooked = 20
/** So long a predecessor that does not answer is waited for, ms: strangers may start one that nobody can serve. */
const mostWaitMs = 600_000

/**
 * Finds the streams that this one goes on from. What is returned throws what the Temporal client throws, and for a while STREAM_UNREACHABLE.
 * @param names of all streams that run
 * @param warn is called again and again for the same
 */
export function createPredecessors(
  client: TemporalClient,
  config: StreamConfig,
  names: () => Promise<readonly string[]>,
  warn: (message: string, fields: WarningFields) => void,
): () => Promise<readonly Predecessor[]> {
  let waitsSince: number | undefined

  /** Undefined: it has other numbers, or answers with what no stream has. Throws STREAM_UNREACHABLE, and what the Temporal client throws. */
  async function read(stream: string): Promise<Predecessor | undefined> {
    const state = await queryStream(client, stream)
    if (!state || !isSuccessor(config, { stream, sourceId: state.config?.sourceId })) return undefined
    try {
      succeed(state, config)
      return { stream, state }
    } catch (error) {
      const about = { code: 'STREAM_FOREIGN', predecessor: stream, reason: String(error) } as const
      warn('a stream of the same numbers answers with what no stream has; it is left alone', about)
      return undefined
    }
  }

  return async () => {
    const all = (await names()).filter((name) => mayBeSameSource(name, config))
    // That of a source without a node has but one name: no stranger can push it out.
    const some = all.toSorted((a, b) => Number(hasNode(a)) - Number(hasNode(b)) || (a < b ? -1 : 1)).slice(0, mostLooked)
    const found = await Promise.allSettled(some.map(read))
    const failed = found.find((one) => one.status === 'rejected')
    if (!failed) waitsSince = undefined
    else if (Date.now() - (waitsSince ??= Date.now()) < mostWaitMs) throw failed.reason
    else warn('an older stream of the same numbers does not answer; this one goes on without it', problemOf(failed.reason))
    return found.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []))
  }
}

/**
 * Those that `find` finds, none of them above the source's own count, where it has one, and that count. What is returned throws what `find` and reads of the
 * source throw.
 */
export function createCountedPredecessors(
  source: Pick<SignedSource, 'highest' | 'withoutNode'>,
  find: () => Promise<readonly Predecessor[]>,
  warn: (message: string, fields: WarningFields) => void,
): () => Promise<{ readonly found: readonly Predecessor[]; readonly highest: string | undefined }> {
  return async () => {
    const all = await find()
    if (source.withoutNode || all.length === 0) return { found: all, highest: undefined }
    const highest = await source.highest()
    const found = all.flatMap(({ stream, state }) => {
      const known = withinCount(state, highest)
      if (known) return [{ stream, state: known }]
      const about = { code: 'STREAM_FOREIGN', predecessor: stream, next: state.next, highest: highest ?? 'none' } as const
      warn('an older stream of the same numbers claims far more of them than its source has given out; nothing is taken from it', about)
      return []
    })
    return { found, highest }
  }
}

/** Tells of a stream whether it was told nothing for so long, ms, as far as this process has seen. It throws what the Temporal client throws. */
export function createWithoutSourceLook(client: TemporalClient, quietMs: number): (stream: string) => Promise<boolean> {
  const still = new Map<string, { readonly progress: string; readonly since: number }>()
  return async (stream) => {
    const progress = await streamProgress(client, stream)
    const before = still.get(stream)
    if (progress !== undefined && before?.progress === progress) return Date.now() - before.since >= quietMs
    if (progress !== undefined) still.set(stream, { progress, since: Date.now() })
    return false
  }
}

/** Whether its name says that the source had a node in the config. */
export function hasNode(stream: string): boolean {
  return numberOfUnconfigured(stream.split(':')[1] ?? '') === undefined
}
