import { outsideReason, intervalsOutside } from '../../domain/stream/outside-window.ts'
import { type Intervals, subtractNumbers, takeNumbers } from '../../domain/stream/intervals.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { parkedPage, type StreamOfTransfers } from '../../temporal/client/streams/stream-transfers.ts'

/** Most parked transfers that one query lists: a page of the visibility store. */
export const mostListed = 1_000

/** Numbers that the stream has as parked when a round begins, without those of which a transfer was found parked. */
interface Round {
  readonly before: number | undefined
  readonly open: ReadonlySet<string>
  readonly outside: readonly Intervals[]
}

/**
 * Which transfers of a stream are parked, page by page: those of strangers may be any number. A look lists the newest, and one page more while there are
 * more of them. Once all were listed, it is known which numbers are parked no longer. Two looks are never under way at once.
 */
export function createParkedRounds(client: TemporalClient, source: StreamOfTransfers, page = parkedPage) {
  let round: Round | undefined
  let gone: Pick<Round, 'open' | 'outside'> = { open: new Set(), outside: [] }

  return {
    /** Parked transfers, and the function that ends the look. Throws what the Temporal client throws: then the next look lists the same. */
    async look(state: StreamState) {
      const newest = await page(client, source, mostListed)
      const { before } = round ?? newest
      const older = round && newest.before !== undefined ? await page(client, source, mostListed, before) : undefined
      const listed = [...new Map([...(older?.listed ?? []), ...newest.listed].map((one) => [one.runId, one])).values()]
      return {
        listed,
        /**
         * Numbers of the state that are not parked any more, at most so many.
         * @param own those of `listed` that the open numbers mean: another message may claim a number
         */
        end(own: ReadonlySet<string>, most: number): readonly string[] {
          const begun = round ?? begin(state)
          const numbers = listed.map(({ number }) => BigInt(number))
          const rest: Round = {
            before: older ? older.before : newest.before,
            open: new Set([...begun.open].filter((number) => !own.has(number))),
            outside: begun.outside.map((runs) => subtractNumbers(runs, numbers)),
          }
          round = rest.before === undefined ? undefined : rest
          if (!round) gone = rest
          return take(state, most)
        },
      }
    },
  }

  /** The first of what is gone. What has changed since its round ended is left out. */
  function take(state: StreamState, most: number): readonly string[] {
    const open = new Set(state.open.flatMap(({ number, parked }) => (parked === undefined ? [] : [number])))
    const isParked = (number: string) => {
      const why = outsideReason(state, number)
      return open.has(number) || (why !== undefined && !why.waits)
    }
    const taken = [...gone.open]
    for (const runs of gone.outside) if (taken.length < most) taken.push(...takeNumbers(runs, 0n, most - taken.length).map(String))
    gone = { open: new Set(), outside: gone.outside.map((runs) => subtractNumbers(runs, taken.map(BigInt))) }
    return taken.filter(isParked).slice(0, most)
  }
}

function begin(state: StreamState): Round {
  return {
    before: undefined,
    open: new Set(state.open.flatMap(({ number, parked }) => (parked === undefined ? [] : [number]))),
    outside: intervalsOutside(state, ({ waits }) => !waits),
  }
}
