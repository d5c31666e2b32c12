import { shortStream } from '../../domain/text/short-id.ts'
import type { Facts, SpyFacts } from './facts.ts'
import type { Finding } from './finding.ts'
import { valueOf } from './read.ts'

/** What is wrong with the guardian spies, one row for each reason of each. */
export function explainSpies({ spies, streams }: Pick<Facts, 'spies' | 'streams'>): Finding[] {
  return spies.flatMap((spy): Finding[] => {
    const { address, problem, asOf, unknownSets } = spy
    const where = { kind: 'spy', id: address } as const
    const away: Finding[] =
      problem === undefined ? [] : [{ row: 'SPY_UNAVAILABLE', what: `The guardian spy ${address}: ${problem}`, where, asOf }]
    // What does not reach us cannot be told of as silent.
    const found = problem === undefined ? explainSilence(spy, streams) : away
    if (unknownSets === 0) return found
    const what = `Messages that the spy told and that a guardian set signed which is not known yet: ${unknownSets}.`
    return [...found, { row: 'GUARDIAN_SET_UNKNOWN', what, where, asOf, numbers: { count: unknownSets } }]
  })
}

/** One message may be lost on its way through the guardians' network; where two came otherwise, and none by the spy since the first of them, it is silent. */
function explainSilence({ address, bridge }: SpyFacts, streams: Facts['streams']): Finding[] {
  const silent = streams.flatMap(({ stream, state }) => {
    const unheard = valueOf(state)?.unheard
    return unheard && unheard.from !== unheard.to && stream.startsWith(`${bridge}:`) ? [{ stream, asOf: state.asOf, ...unheard }] : []
  })
  const [first] = silent.toSorted((a, b) => a.since - b.since)
  if (!first) return []
  const { stream, from, to, since } = first
  const more = silent.length === 1 ? '' : `, and so it is with ${silent.length - 1} more streams`
  const what = `The guardian spy ${address} is connected and told none of the messages ${from} and ${to} of ${shortStream(stream)}, which the guardians have signed${more}.`
  return [{ row: 'SPY_SILENT', what, where: { kind: 'spy', id: address }, since, asOf: Math.min(...silent.map(({ asOf }) => asOf)) }]
}
