import type { Config } from '../../config/schema/schema.ts'
import { optional, time } from '../../domain/field-checks.ts'
import { haltOf } from '../../domain/settings/settings.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamName, StreamState } from '../../domain/stream/stream.ts'
import { ageText } from '../../domain/text/age.ts'
import { shortStream } from '../../domain/text/short-id.ts'
import { silentSince, sourceOf } from '../../intake/streams/reports.ts'
import { type ChainFacts, type Facts, majorityHead, valueOf } from './facts.ts'
import { type Finding, orElse } from './finding.ts'

/** A stream lags if it is behind the final head by more than `blocks` blocks and by more than `ms`. */
const lagging = { blocks: 20, ms: 60_000 } as const
/** A lagging stream without an update for this long is silent, because each range of blocks causes an update. In ms. */
const unreadMs = 60_000

export const intakePlace = { kind: 'worker', id: 'intake' } as const

/**
 * Finds streams without reports. A stream needs no report if its source has no node or is in `held`, or if Portage
 * itself has halted the stream.
 */
export function explainIntake(
  { at, streams, settings, ledger, chains, unread }: Facts,
  { streams: { auditMinutes } }: Pick<Config, 'streams'>,
  configured: readonly Pick<StreamName, 'name'>[],
  held: ReadonlySet<string>,
): { readonly silent: ReadonlySet<string>; readonly found: Finding[] } {
  const halts = (valueOf(settings)?.halts ?? []).filter(({ by }) => by === 'portage')
  const wanted = configured.filter(({ name }) => chains.some(({ chain }) => chain === sourceOf(name)))
  const isDue = (name: string) => {
    const [bridge = '', sourceChain = '', targetChain = ''] = name.split(':')
    return !held.has(sourceChain) && !haltOf({ halts }, { bridge, sourceChain, targetChain })
  }
  const sinceOf = (stream: string, known: StreamState): number | undefined => {
    const { updatedAt = at } = known
    const isUnread =
      at - updatedAt > unreadMs && !viewStream(known).full && blocksBehind(stream, known.cursor?.height, chains) !== undefined
    const since = silentSince(known, auditMinutes, at) ?? (isUnread ? updatedAt : undefined)
    optional(time)(since, 'updatedAt')
    return since
  }
  const silent = streams.flatMap(({ stream, state }) => {
    const known = valueOf(state)
    if (!known || !isDue(stream) || !wanted.some(({ name }) => name === stream)) return []
    const since = orElse(undefined, () => sinceOf(stream, known))
    return since === undefined ? [] : [{ stream, since }]
  })
  const asOf = Math.min(at, ...streams.map(({ state }) => state.asOf))
  const of = { row: 'INTAKE_SILENT', where: intakePlace, asOf } as const
  // The intake begins the stream of a source with a node within seconds, even before the first number.
  const isNever = streams.length === 0 && ledger.answered > 0 && unread.length === 0 && wanted.some(({ name }) => isDue(name))
  if (isNever)
    return { silent: new Set(), found: [{ ...of, what: 'No stream has begun: no process with the role intake has reported yet.' }] }
  const [first] = silent.toSorted((a, b) => a.since - b.since)
  if (!first) return { silent: new Set(), found: [] }
  const more = silent.length === 1 ? '' : `, and of ${silent.length - 1} more streams`
  const what = `The last report of ${shortStream(first.stream)} is ${ageText(at - first.since)} old${more}.`
  return { silent: new Set(silent.map(({ stream }) => stream)), found: [{ ...of, since: first.since, what }] }
}

/** Undefined if the stream does not lag, or if the head of its source is not known. */
export function blocksBehind(stream: string, height: number | undefined, chains: readonly ChainFacts[]): number | undefined {
  const chain = chains.find((one) => one.chain === sourceOf(stream))
  const blocks = height === undefined ? 0 : (majorityHead(chain)?.finalized ?? -1) - height
  return chain && blocks > lagging.blocks && blocks * chain.blockTimeMs > lagging.ms ? blocks : undefined
}
