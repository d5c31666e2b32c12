import { toRelayerError } from '../../domain/errors.ts'
import { hasGap } from '../../domain/stream/gaps.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { type ListedTransfer, runningTransfers, type StreamOfTransfers } from '../../temporal/client/stream-transfers.ts'
import type { ProvedTransfers } from './proved-transfers.ts'

/** Missing numbers whose transfers run, with the transfer's id. */
export type UnderWay = ReadonlyMap<string, string>

export interface UnderWayDeps {
  readonly source: StreamOfTransfers
  readonly client: TemporalClient
  readonly logger: Logger
  readonly proved: Pick<ProvedTransfers, 'own'>
}

/** A list of what runs is good for so long, ms: in a burst the gaps are looked at each second. */
const keptMs = 10_000

/**
 * Which numbers of the gaps were started already: by a submission over the API, by another process, or by this one's spy while the stream had no room for them.
 * They are recorded, and neither fetched nor submitted again, if their messages are proved: anybody who reaches Temporal may run something under their numbers. What
 * the visibility store does not show yet is fetched, and is then found to be known.
 */
export function createUnderWay({ source, client, logger, proved }: UnderWayDeps) {
  let known: readonly ListedTransfer[] = []
  let askAt = 0
  return {
    /** Never throws: while the visibility store does not answer, nothing is known. */
    async of({ gaps }: Pick<StreamState, 'gaps'>): Promise<UnderWay> {
      if (gaps.length === 0) return new Map()
      if (Date.now() >= askAt) {
        try {
          known = await runningTransfers(client, source)
          askAt = Date.now() + keptMs
        } catch (error) {
          known = []
          logger.debug('the transfers that run were not listed', { source: source.sourceChain, error: toRelayerError(error).message })
        }
      }
      const own = await proved.own(known.filter(({ number }) => hasGap(gaps, BigInt(number))))
      return new Map(own.map(({ number, id }) => [number, id]))
    },
  }
}
