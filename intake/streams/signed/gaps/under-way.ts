import { toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { hasGap } from '../../../../domain/stream/gaps.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import type { Logger } from '../../../../observability/logger.ts'
import type { TemporalClient } from '../../../../temporal/client/connection/client.ts'
import {
  byNumber,
  type ListedTransfer,
  runningTransfers,
  type StreamOfTransfers,
} from '../../../../temporal/client/streams/stream-transfers.ts'
import type { ProvedTransfers } from '../audit/proved-transfers.ts'

export interface UnderWayDeps {
  readonly source: StreamOfTransfers
  readonly client: TemporalClient
  readonly logger: Logger
  readonly proved: Pick<ProvedTransfers, 'own'>
}

/** Missing numbers whose transfers run. */
export type UnderWay = ReturnType<typeof createUnderWay>

/**
 * A list of what runs is good for so long, ms, or for so many times as long as it took to make: in a burst the gaps are looked at each second, and to list
 * thousands of runs takes many requests. One that has all that is wanted is good for longer: what ends meanwhile is taken from the gaps by the look for outcomes.
 */
const [keptMs, keptTimes, keptFoundMs] = [10_000, 20, 60_000] as const
const afterTroubleMs = 1_000

/**
 * Which numbers of the gaps were started already: by a submission over the API, by another process, or by this one's spy while the stream had no room for them.
 * They are recorded, and neither fetched nor submitted again, if their messages are proved: anybody who reaches Temporal may run something under their numbers. What
 * the visibility store does not show yet is fetched, and is then found to be known.
 */
export function createUnderWay({ source, client, logger, proved }: UnderWayDeps) {
  let known: ReadonlyMap<string, readonly ListedTransfer[]> = new Map()
  let [dueAt, staleAt] = [0, 0]

  /** @param isEnough whether what was listed before has all that is wanted */
  async function running(isEnough: (known: ReadonlyMap<string, unknown>) => boolean): Promise<typeof known> {
    const now = performance.now()
    if (now < dueAt || (now < staleAt && isEnough(known))) return known
    try {
      known = byNumber(await runningTransfers(client, source))
      const end = performance.now()
      dueAt = end + Math.min(Math.max(keptMs, keptTimes * (end - now)), keptFoundMs)
      staleAt = end + keptFoundMs
    } catch (error) {
      if (now >= staleAt) known = new Map()
      dueAt = now + afterTroubleMs
      logger.debug('the transfers that run were not listed', { source: source.sourceChain, error: toRelayerError(error).message })
    }
    return known
  }

  return {
    /** How many of the gaps' numbers have a run that is listed, whosever it is. Never throws. */
    async listed({ gaps }: Pick<StreamState, 'gaps'>): Promise<number> {
      if (gaps.length === 0) return 0
      const numbers = [...(await running(() => false)).keys()]
      return numbers.filter((number) => hasGap(gaps, BigInt(number))).length
    },
    /** Those of these numbers whose transfers run, with the transfer's id. Reads the runs of these numbers only. Never throws. */
    async of(numbers: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const runs = await running((has) => numbers.every((number) => has.has(number)))
      const own = await proved.own(numbers.flatMap((number) => runs.get(number) ?? []))
      return new Map(own.map(({ number, id }) => [number, id]))
    },
  }
}
