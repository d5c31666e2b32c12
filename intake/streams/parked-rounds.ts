import { type Intervals, subtractNumbers, takeNumbers } from '../../domain/stream/intervals.ts'
import { intervalsOutside, outsideReason } from '../../domain/stream/outside-window.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { parkedPage, type StreamOfTransfers } from '../../temporal/client/streams/stream-transfers.ts'

export const mostListed = 1_000

interface Unlisted {
  readonly open: ReadonlySet<string>
  readonly outside: readonly Intervals[]
}

interface Round extends Unlisted {
  readonly before: number | undefined
}

/** Lists parked transfers page by page, because strangers may create many. Call `end` before the next `list`. */
export function createParkedRounds(client: TemporalClient, source: StreamOfTransfers, page = parkedPage) {
  let round: Round | undefined
  let released: Unlisted = { open: new Set(), outside: [] }

  return {
    async list(state: StreamState) {
      const newest = await page(client, source, mostListed)
      const { before } = round ?? newest
      const older = round && newest.before !== undefined ? await page(client, source, mostListed, before) : undefined
      const listed = [...new Map([...(older?.listed ?? []), ...newest.listed].map((one) => [one.runId, one])).values()]
      return {
        listed,
        /** Returns numbers that are no longer parked. `own`: listed numbers whose transfers belong to the source. */
        end(own: ReadonlySet<string>, most: number): readonly string[] {
          const begun = round ?? begin(state)
          const numbers = listed.map(({ number }) => number)
          const rest: Round = {
            before: older ? older.before : newest.before,
            open: new Set([...begun.open].filter((number) => !own.has(number))),
            outside: begun.outside.map((intervals) => subtractNumbers(intervals, numbers)),
          }
          round = rest.before === undefined ? undefined : rest
          if (!round) released = rest
          return takeReleased(state, most)
        },
      }
    },
  }

  function takeReleased(state: StreamState, most: number): readonly string[] {
    const open = parkedIn(state)
    const isParked = (number: string) => {
      const why = outsideReason(state, number)
      return open.has(number) || (why !== undefined && !why.waits)
    }
    const taken = [...released.open]
    for (const intervals of released.outside)
      if (taken.length < most) taken.push(...takeNumbers(intervals, 0n, most - taken.length).map(String))
    released = { open: new Set(), outside: released.outside.map((intervals) => subtractNumbers(intervals, taken)) }
    return taken.filter(isParked).slice(0, most)
  }
}

function begin(state: StreamState): Round {
  return { before: undefined, open: parkedIn(state), outside: intervalsOutside(state, ({ waits, condensed }) => !waits && !condensed) }
}

function parkedIn({ open }: StreamState): ReadonlySet<string> {
  return new Set(open.flatMap(({ number, parked }) => (parked === undefined ? [] : [number])))
}
