import { toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { hasGap } from '../../../../domain/stream/gaps.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { byNumber, type ListedTransfer, runningTransfers } from '../../../../temporal/client/streams/stream-transfers.ts'
import type { WaitingTransfersDeps } from '../../waiting-transfers.ts'
import type { ProvedTransfers } from '../audit/proved-transfers.ts'

export interface UnderWayDeps extends Pick<WaitingTransfersDeps, 'source' | 'client' | 'logger'> {
  readonly proved: Pick<ProvedTransfers, 'own'>
}

/** A list is reused for `keptFoundMs` if it has all wanted numbers, otherwise for a shorter time. */
const [keptMs, keptTimes, keptFoundMs] = [10_000, 20, 60_000] as const
const afterFailureMs = 1_000

/**
 * Finds the running transfers of missing numbers. Strangers can start runs with any id, so `of` returns only proved
 * runs.
 */
export function createUnderWay({ source, client, logger, proved }: UnderWayDeps) {
  let known: ReadonlyMap<string, readonly ListedTransfer[]> = new Map()
  let [dueAt, staleAt] = [0, 0]

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
      dueAt = now + afterFailureMs
      logger.debug('running transfers could not be listed', { source: source.sourceChain, error: toRelayerError(error).message })
    }
    return known
  }

  return {
    /** Counts gap numbers that have a running transfer, proved or not. Never throws. */
    async listed({ gaps }: Pick<StreamState, 'gaps'>): Promise<number> {
      if (gaps.length === 0) return 0
      const numbers = [...(await running(() => false)).keys()]
      return numbers.filter((number) => hasGap(gaps, BigInt(number))).length
    },
    /** Number → id of its running transfer, if the run is proved. Never throws. */
    async of(numbers: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const runs = await running((has) => numbers.every((number) => has.has(number)))
      const own = await proved.own(numbers.flatMap((number) => runs.get(number) ?? []))
      return new Map(own.map(({ number, id }) => [number, id]))
    },
  }
}
