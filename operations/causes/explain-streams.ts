import type { CauseCode } from '../../domain/catalogue/catalogue.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { StreamName, GapState, StreamState } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { sourceOf } from '../../intake/streams/reports.ts'
import { type ChainFacts, errorOf, type Facts, type StreamFacts, valueOf } from './facts.ts'
import { streamWorkflowId } from '../../temporal/contracts/stream.ts'
import { blocksBehind, intakePlace } from './explain-intake.ts'
import { type Finding, isolated } from './finding.ts'

const youngMs = 3_000
/** Minimum age at which a gap may be skipped, ms. The guardians of a younger gap may only be slow. */
const skippableMs = 86_400_000

const gapKinds: Readonly<Record<GapState, { readonly row: CauseCode; readonly text: string }>> = {
  unasked: { row: 'GAP_NOT_QUERIED', text: 'known to exist, but not requested yet, or no server could be asked' },
  unstarted: { row: 'GAP_UNSTARTED', text: 'received, but cannot be started' },
  'not-final': { row: 'GAP_NOT_FINAL', text: 'not final at the source yet' },
  held: { row: 'GAP_HELD', text: 'held by the Governor' },
  unobserved: { row: 'GAP_UNOBSERVED', text: 'final at the source, but no server that was asked has its signatures' },
  hidden: { row: 'GAP_HIDDEN', text: "in the source's table, but in no log" },
  undone: { row: 'GAP_UNDONE', text: 'to be started again' },
}

const chainRows: readonly CauseCode[] = ['CHAIN_UNREACHABLE', 'CHAIN_WITHOUT_MAJORITY', 'CHAIN_STALLED', 'FINALITY_STALLED']

/** No intake reports on `silent` streams, so their gaps are part of INTAKE_SILENT. */
export function explainStreams(
  { at, streams, chains, ledger }: Pick<Facts, 'at' | 'streams' | 'chains' | 'ledger'>,
  configured: readonly StreamName[],
  silent: ReadonlySet<string>,
): Finding[] {
  const explainOne = (one: StreamFacts): Finding[] => {
    const { stream, state } = one
    const of = { where: { kind: 'stream', id: stream } as const, asOf: state.asOf, values: { stream, chain: sourceOf(stream) } }
    const known = valueOf(state)
    if (!known) {
      const id = streamWorkflowId(configured.find(({ name }) => name === stream)?.id ?? stream)
      const partOf = { rows: ['WORKFLOW_FAILING'] as const, id }
      const isOwn = errorOf(state) && ledger.answered > 0
      return isOwn ? [{ row: 'STREAM_UNREACHABLE', ...of, what: 'The stream does not answer.', partOf }] : []
    }
    const found = [
      ...alarmsOf(known),
      ...(configured.some(({ name }) => name === stream) ? [] : [withoutSource]),
      ...waitsOf(known, at),
      ...(silent.has(stream) ? gapsOf(known, at).map(ofIntake) : [...lagOf(one, known, chains), ...gapsOf(known, at)]),
    ]
    return found.map((finding) => ({ ...of, ...finding, values: { ...of.values, ...finding.values } }))
  }
  return streams.flatMap((one) => isolated(`the stream ${one.stream}`, at, () => explainOne(one)))
}

type Part = Omit<Finding, 'where' | 'asOf'>

const ofIntake = (part: Part): Part => ({ ...part, partOf: { rows: ['INTAKE_SILENT'], id: intakePlace.id } })

const withoutSource: Part = { row: 'STREAM_WITHOUT_SOURCE', what: 'The config has no source for this stream.' }

function alarmsOf({ fork, vanished, distrusted, unknownCompletions }: StreamState): Part[] {
  const parts: Part[] = []
  if (fork) {
    const what = `At block ${fork.height} the source shows ${fork.shown}; ${fork.known} was read before.`
    parts.push({ row: 'STREAM_FORKED', since: fork.at, what })
  }
  if (vanished) {
    const what = `At block ${vanished.height} the source counts up to ${vanished.upTo} only.`
    parts.push({ row: 'STREAM_COUNT', since: vanished.at, what })
  }
  if (distrusted) {
    const what = `${distrusted.by} gave ${distrusted.number} as watermark, which is above the known numbers.`
    parts.push({ row: 'STREAM_COUNT', since: distrusted.at, what })
  }
  const [from, to] = unknownCompletions[0] ?? []
  if (from !== undefined) {
    const numbers = from === to ? from : `${from}-${to}`
    parts.push({ row: 'STREAM_COUNT', what: `Completed on the target and never seen at the source: ${numbers}…` })
  }
  return parts
}

function waitsOf(state: StreamState, at: number): Part[] {
  const { paused } = state
  if (paused) return [{ row: 'STREAM_PAUSED', since: paused.at, what: `The stream is paused by ${paused.by}: ${paused.reason}` }]
  const { full, open, maxOpen } = viewStream(state)
  const oldest = Math.min(...state.gaps.map((gap) => gap.at))
  if (!full || at - oldest < youngMs) return []
  return [{ row: 'STREAM_FULL', what: `${open} transfers are open, the limit is ${maxOpen.most}.` }]
}

function lagOf({ stream }: StreamFacts, { cursor, paused }: StreamState, chains: readonly ChainFacts[]): Part[] {
  const [source, target] = [sourceOf(stream), stream.split(':')[2] ?? '']
  const blocks = blocksBehind(stream, cursor?.height, chains)
  if (paused || blocks === undefined) return []
  const what = `The cursor is at block ${cursor?.height}, ${blocks} blocks behind the final head of ${source}.`
  // A target chain that does not answer stops the cursor.
  return [{ row: 'STREAM_LAGS', what, partOf: { rows: chainRows, id: target } }]
}

function gapsOf({ gaps }: StreamState, at: number): Part[] {
  const shown = gaps.filter((gap) => at - gap.at >= youngMs || gap.state === 'unstarted')
  return [...groupBy(shown, ({ state, code, chain }) => JSON.stringify([state, code, chain])).values()].map((group): Part => {
    const [{ state, from, code, chain }] = group
    const count = group.reduce((total, one) => total + Number(BigInt(one.to) - BigInt(one.from) + 1n), 0)
    const oldest = Math.min(...group.map((one) => one.at))
    const why = code === undefined ? '' : `: ${code}${chain === undefined ? '' : ` (${chain})`}`
    return {
      row: code === 'GUARDIAN_SET_UNKNOWN' ? code : gapKinds[state].row,
      since: oldest,
      what: `${count} ${count === 1 ? 'number' : 'numbers'} ${gapKinds[state].text}${why}.`,
      numbers: { count, oldest, examples: group.map((one) => one.from) },
      values: { number: from },
      useless: at - oldest < skippableMs ? ['portage stream skip'] : [],
      partOf: chain === undefined ? undefined : { rows: chainRows, id: chain },
    }
  })
}
