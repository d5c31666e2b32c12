import type { SignedSource } from '../../bridges/source-port.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { parkedAndEnded, statusOf, type StreamOfTransfers } from '../../temporal/client/stream-transfers.ts'
import { type NumberStatus, seenRequest } from '../number-status.ts'
import { toClosed } from '../transfer-outcomes.ts'
import type { StreamClient } from '../stream-client.ts'
import type { SignedDeps } from './deps.ts'
import { createParkedCodes, type ParkedCodes } from './parked-codes.ts'

export interface OutcomesDeps extends Pick<SignedDeps, 'logger'> {
  readonly source: Pick<SignedSource, 'config' | 'bridge' | 'sourceChain' | 'emitter' | 'delivered'>
  readonly streamClient: Pick<StreamClient, 'apply'>
  readonly client: TemporalClient
}

export interface OutcomeReporter extends Pick<ParkedCodes, 'awaitingSignatures'> {
  /**
   * Records how transfers of the stream ended, and which are parked: one query of the visibility store, and one of each transfer that is newly parked
   * or ended undelivered. Throws what the Temporal client throws.
   */
  look(state: StreamState): Promise<void>
}

/** The visibility store lags, and another process's clock may too, ms. */
const lagMs = 15_000
/** How far back the first look goes, ms: transfers that ended before are found as lost. */
const firstLookMs = 600_000

export function createOutcomeReporter({ source, streamClient, client, logger }: OutcomesDeps): OutcomeReporter {
  const codes = createParkedCodes(client, source.config.stream, logger)
  let since = Date.now() - firstLookMs

  async function record(seen: readonly (readonly [string, NumberStatus])[], requests: readonly StreamRequest[]): Promise<void> {
    const all = [...(seen.length > 0 ? [seenRequest(seen)] : []), ...requests]
    if (all.length > 0) await streamClient.apply(all)
  }

  return {
    get awaitingSignatures() {
      return codes.awaitingSignatures
    },
    async look({ open, gaps }) {
      const now = Date.now()
      const opened = new Map(open.map((one) => [one.number, one.parked]))
      const isMissing = (number: string) =>
        gaps.some((gap) => gap.state !== 'undone' && BigInt(gap.from) <= BigInt(number) && BigInt(number) <= BigInt(gap.to))
      const listed = (await parkedAndEnded(client, streamOf(source), since)).filter(({ number }) => opened.has(number) || isMissing(number))
      const ended = listed.filter(({ running }) => !running)
      const delivered = ended.filter(({ state }) => state === 'delivered').map(({ number }) => [number, 'delivered'] as const)
      const closed: StreamRequest[] = []
      for (const one of ended) {
        const request = one.state === 'delivered' ? undefined : toClosed(one.number, await statusOf(client, one))
        if (request) closed.push(request)
      }
      // Recorded before any parked transfer is queried: that may wait for a worker.
      await record(delivered, closed)
      const parked = listed.filter(({ running }) => running)
      const known = [...(await codes.of(parked))]
      const numbers = new Set(parked.map(({ number }) => number))
      const started = [...numbers].filter((number) => !opened.has(number)).map((number) => [number, 'started'] as const)
      const released = open.filter((one) => one.parked !== undefined && !numbers.has(one.number))
      await record(started, [
        ...known.flatMap(([number, code]) => (opened.get(number) === code ? [] : [{ kind: 'parked' as const, number, code }])),
        ...released.map(({ number }) => ({ kind: 'unparked' as const, number })),
      ])
      since = now - lagMs
    },
  }
}

export function streamOf({ bridge, sourceChain, emitter }: Pick<SignedSource, 'bridge' | 'sourceChain' | 'emitter'>): StreamOfTransfers {
  return { bridge, sourceChain, emitter }
}
