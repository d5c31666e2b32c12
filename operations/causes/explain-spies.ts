import { shortStream } from '../../domain/text/short-id.ts'
import type { Facts, SpyFacts } from './facts.ts'
import type { Finding } from './finding.ts'
import { valueOf } from './read.ts'

/** The findings about guardian spies, one row for each reason of each spy. */
export function explainSpies({ spies, streams }: Pick<Facts, 'spies' | 'streams'>): Finding[] {
  return spies.flatMap((spy): Finding[] => {
    const { address, problem, asOf, unknownSets } = spy
    const where = { kind: 'spy', id: address } as const
    // A spy that is away is not also silent.
    const found: Finding[] =
      problem === undefined
        ? explainSilence(spy, streams)
        : [{ row: 'SPY_UNAVAILABLE', what: `The guardian spy ${address}: ${problem}`, where, asOf }]
    if (unknownSets === 0) return found
    const what = `Messages from the spy that are signed by a guardian set which is not known yet: ${unknownSets}.`
    return [...found, { row: 'GUARDIAN_SET_UNKNOWN', what, where, asOf, numbers: { count: unknownSets } }]
  })
}

/** Silent if two messages came from elsewhere, none from the spy since the first: one may be lost. */
function explainSilence({ address, bridge }: SpyFacts, streams: Facts['streams']): Finding[] {
  const silent = streams.flatMap(({ stream, state }) => {
    const missed = valueOf(state)?.missedBySpy
    return missed && missed.from !== missed.to && stream.startsWith(`${bridge}:`) ? [{ stream, asOf: state.asOf, ...missed }] : []
  })
  const [first] = silent.toSorted((a, b) => a.since - b.since)
  if (!first) return []
  const { stream, from, to, since } = first
  const more = silent.length === 1 ? '' : `. The same holds for ${silent.length - 1} more streams`
  const what = `The guardian spy ${address} is connected and sent none of the messages ${from} and ${to} of ${shortStream(stream)}, which the guardians have signed${more}.`
  return [{ row: 'SPY_SILENT', what, where: { kind: 'spy', id: address }, since, asOf: Math.min(...silent.map(({ asOf }) => asOf)) }]
}
