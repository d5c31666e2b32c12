import type { ScannedSource } from '../../../bridges/port.ts'
import { applyToStream, initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import { createFinalityTimes, createRangeSize, type FollowedChain, type ReadingContext } from '../../../intake/streams/scanned/context.ts'
import { createStreamCache } from '../../../intake/streams/scanned/stream-cache.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { unused } from '../../helpers/unused.ts'

/** A stream that applies requests without Temporal. */
export function fakeStream(config: StreamConfig) {
  const requests: (readonly StreamRequest[])[] = []
  const streamClient = {
    now: initialStream(config) as StreamState | undefined,
    era: 0,
    get view() {
      return streamClient.now && viewStream(streamClient.now)
    },
    state: async () => streamClient.now,
    async apply(some: readonly StreamRequest[]) {
      requests.push([...some])
      if (!streamClient.now) throw new Error('there is no stream')
      const { state, response } = applyToStream(streamClient.now, { requests: some }, 5)
      streamClient.now = state
      return response
    },
    changed: async () => {},
  }
  return { streamClient, requests }
}

/** A stream that records requests, but does not change its state. */
export function recordingStream(state: StreamState) {
  const requests: StreamRequest[] = []
  const streamClient = {
    view: undefined,
    state: async () => state,
    async apply(some: readonly StreamRequest[]) {
      requests.push(...some)
      return { answers: some.map(() => ({ kind: 'done' as const })), view: viewStream(state) }
    },
  }
  return { streamClient, requests }
}

/** A source with the methods of `own`. All other methods throw. */
export function fakeSource(config: StreamConfig, own: Partial<ScannedSource> = {}): ScannedSource {
  return {
    kind: 'scanned',
    config,
    bridge: 'native-bridge',
    sourceChain: 'a',
    targetChain: 'b',
    highest: unused('highest'),
    delivered: unused('delivered'),
    initiated: unused('initiated'),
    recorded: unused('recorded'),
    completed: unused('completed'),
    contradiction: unused('contradiction'),
    ...own,
  }
}

/** A chain whose latest block is final. Each subscriber immediately gets this block. */
export function fakeChain(
  finalized: number,
  own: Partial<ReadingContext['sourceChain']> = {},
): FollowedChain & ReadingContext['sourceChain'] {
  const current = {
    latest: { height: finalized, hash: '', parentHash: '', timestamp: 0, transactions: [] },
    finalized,
    applied: [],
    rolledBack: [],
  }
  return {
    name: 'a',
    blockTimeMs: 1_000,
    heads: {
      current,
      subscribe(listener) {
        queueMicrotask(() => listener(current))
        return () => {}
      },
    },
    block: unused('block'),
    denies: unused('denies'),
    ...own,
  }
}

/** A context with the reads of `own`. All other reads throw. */
export function fakeContext(config: StreamConfig, own: Partial<ReadingContext> = {}): ReadingContext {
  return {
    source: fakeSource(config),
    sourceChain: fakeChain(0),
    route: { source: fakeSource(config), target: fakeChain(0) },
    streamClient: fakeStream(config).streamClient,
    client: Object.create(null) as ReadingContext['client'],
    submitter: { submit: unused('submit') },
    decode: unused('decode'),
    haltRoute: unused('haltRoute'),
    logger: silentLogger(),
    cache: createStreamCache(),
    ranges: { source: createRangeSize(10), target: createRangeSize(10) },
    finality: createFinalityTimes(),
    alarms: new Set(),
    stopping: new AbortController().signal,
    ...own,
  }
}
