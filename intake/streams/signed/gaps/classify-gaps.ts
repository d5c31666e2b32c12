import type { Published } from '../../../../bridges/source-port.ts'
import type { Gap, StreamRequest } from '../../../../domain/stream/stream.ts'
import { deliveredByTarget } from './delivered-by-target.ts'
import type { SignedDeps } from '../deps.ts'
import type { PublishedLogs } from '../published-logs.ts'

type Classified = Extract<StreamRequest, { kind: 'classified' }>
export type GapClass = Classified['state']

/** What is known of numbers that no server has. ignored: no transfers, or to chains that we do not serve, by the source's logs. */
export interface ClassifiedGaps {
  readonly ignored: readonly string[]
  readonly delivered: readonly string[]
  readonly classes: ReadonlyMap<string, GapClass>
}

/**
 * Why the guardians' servers do not have these numbers. not-final: above what the source's finalized state has given out; later ones were signed earlier, as
 * with several consistency levels. held: by the Governor of a guardian. unobserved: it is final, and no server has it. Throws what reads throw.
 * @param upTo the source's highest number at its finalized state; undefined: not asked lately
 */
export async function classifyGaps(
  { source, lookup, chain }: Pick<SignedDeps, 'source' | 'lookup' | 'chain'>,
  logs: PublishedLogs,
  numbers: readonly string[],
  upTo: string | undefined,
): Promise<ClassifiedGaps> {
  const finalized = chain.heads.current?.finalized
  const published = finalized === undefined ? new Map<string, Published>() : await logs.of(numbers, finalized)
  const ignored = numbers.filter((number) => published.get(number)?.content?.kind === 'none')
  const transfers = numbers.flatMap((number) => {
    const content = published.get(number)?.content
    return content?.kind === 'transfer' ? [content.transfer] : []
  })
  const { done } = await deliveredByTarget(source, transfers)
  const over = new Set([...ignored, ...done])
  const open = numbers.filter((number) => !over.has(number))
  const place = { chain: source.emitterChain, emitter: source.emitter }
  const classes = await Promise.all(
    open.map(async (number): Promise<[string, GapClass]> => {
      if (upTo !== undefined && BigInt(number) > BigInt(upTo)) return [number, 'not-final']
      return [number, (await lookup.held({ ...place, sequence: number })) ? 'held' : 'unobserved']
    }),
  )
  return { ignored, delivered: [...done], classes: new Map(classes) }
}

/** The classes as requests: neighbours of one class together, without those that the gaps have already. */
export function classifications(classes: ReadonlyMap<string, GapClass>, gaps: readonly Gap[]): readonly Classified[] {
  const runs: { from: bigint; to: bigint; state: GapClass }[] = []
  for (const [number, state] of [...classes].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))) {
    const at = BigInt(number)
    if (gaps.some((gap) => gap.state === state && BigInt(gap.from) <= at && at <= BigInt(gap.to))) continue
    const last = runs.at(-1)
    if (last?.state === state && last.to + 1n === at) last.to = at
    else runs.push({ from: at, to: at, state })
  }
  return runs.map(({ from, to, state }) => ({ kind: 'classified', from: String(from), to: String(to), state }))
}
