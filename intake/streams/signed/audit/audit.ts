import type { StreamState } from '../../../../domain/stream/stream.ts'
import { runAll } from '../../../../runtime/run-all.ts'
import { endedSince } from '../../../../temporal/client/streams/stream-transfers.ts'
import { createAuditCursor } from '../../audit-cursor.ts'
import { createOutcomeReporter } from '../../transfer-outcomes.ts'
import type { GapsDeps, SignedDeps } from '../deps.ts'
import { createGapFiller, type GapReport, nothingFilled } from '../gaps/fill-gaps.ts'
import { createLostTransfers, graceMs, type LostTransfersDeps, reopenUndone, restartLost } from './lost-transfers.ts'
import { createProvedTransfers } from './proved-transfers.ts'
import { noNumbers, type NumberCounts, seenRequests } from '../../number-status.ts'
import { fetchMessages, foundIn } from '../gaps/fetch-messages.ts'
import { missedBySpy } from '../spy-silence.ts'

export interface SignedAudit extends GapReport {
  readonly upTo?: string
  readonly height?: number
  readonly restarted: number
  readonly closed: number
  readonly undone: number
}

export type SignedAuditor = ReturnType<typeof createSignedAuditor>

/**
 * If a number may be lost, the next audit begins after `graceMs` and this margin (ms). By then, the number counts as
 * lost.
 */
const marginMs = 500

export function createSignedAuditor(
  given: GapsDeps & Omit<LostTransfersDeps, 'proved'>,
  auditMs: number,
  begins: () => Promise<string | undefined> = async () => given.source.begins.first,
) {
  const { streamClient } = given
  const proved = createProvedTransfers(given)
  const deps = { ...given, proved }
  const outcomes = createOutcomeReporter(deps, endedSince, proved.outcomes)
  const lost = createLostTransfers(deps)
  const resumed = createAuditCursor()
  const gaps = createGapFiller(deps, auditMs)
  const counted = createSourceCount(given, begins)

  const mayBeThere = () => !given.source.withoutNode || streamClient.view !== undefined

  async function fillGaps(isAudit = false): Promise<GapReport> {
    if (!mayBeThere()) return nothingFilled
    const state = await streamClient.state()
    if (!state || state.paused || state.gaps.length === 0) return nothingFilled
    // Fetching needs no count, but classifying a gap needs a count that covers the gap's numbers.
    return gaps.fillGaps(state, await counted.atLeast(state.gaps.at(-1)?.to ?? '0'), isAudit)
  }

  async function auditTransfers(audit: { restarted: number; closed: number; undone: number }): Promise<void> {
    if (!mayBeThere()) return
    const state = await streamClient.state()
    if (!state) return
    await runAll(
      () => outcomes.report(state),
      async () => void Object.assign(audit, await restartLost(deps, await lost.find(state, outcomes.awaitingSignatures), state)),
      async () => void (audit.undone = await reopenUndone(deps, state, resumed)),
    )
  }

  return {
    know: proved.know,
    reportOutcomes: (state: StreamState) => outcomes.report(state),
    fillGaps: () => fillGaps(),
    hurry: gaps.hurry,
    /** Time until the next audit, ms, if open numbers may be lost. Otherwise undefined. */
    get soonMs(): number | undefined {
      return lost.suspects ? graceMs + marginMs : undefined
    },
    /** Records all findings, and throws the first failure. */
    async audit(): Promise<SignedAudit> {
      const audit = { ...nothingFilled, restarted: 0, closed: 0, undone: 0 }
      await runAll(
        async () => void Object.assign(audit, await counted.take()),
        async () => {
          const probed = { ...audit }
          Object.assign(audit, await fillGaps(true))
          for (const status of ['started', 'delivered', 'ignored'] as const) audit[status] += probed[status]
        },
        () => auditTransfers(audit),
      )
      const { upTo } = counted
      return { ...audit, ...(upTo !== undefined && { upTo }) }
    },
  }
}

type SourceCountDeps = SignedDeps & Pick<GapsDeps, 'isMissed'>

/**
 * Counts the numbers of the source. If the source has no node, servers are probed. `begins` returns the first number.
 */
export function createSourceCount(deps: SourceCountDeps, begins: () => Promise<string | undefined>) {
  const { source, chain, streamClient, logger } = deps
  let upTo: string | undefined
  return {
    /** Undefined for a source without a node. */
    get upTo(): string | undefined {
      return upTo
    },
    /** Takes the count, and reports it to the stream. Throws read errors. */
    async take(): Promise<{ height?: number } & Partial<GapReport>> {
      if (source.withoutNode) {
        const state = await streamClient.state()
        return probeTail(deps, state ? undefined : await begins())
      }
      // The height is read first, so that the count is from this block or a later one.
      const height = chain.heads.current?.finalized
      upTo = await source.highest(upTo)
      if (height === undefined) return {}
      const { stream, origin, maxOpen } = source.config
      // A source without numbers also updates the stream, which shows that an intake runs.
      const report =
        upTo === undefined
          ? { kind: 'configured' as const, stream, origin, maxOpen }
          : { kind: 'audited' as const, upTo, height, present: [] }
      await streamClient.apply([report])
      return upTo === undefined ? {} : { height }
    },
    /**
     * Returns the last count, or a new one if the last count is below `number`. If the read fails, returns the last
     * count.
     */
    async atLeast(number: string): Promise<string | undefined> {
      if (upTo !== undefined && BigInt(number) <= BigInt(upTo)) return upTo
      upTo = await source.highest(upTo).catch((error: unknown) => {
        logger.debug('the source could not be counted', { stream: source.config.stream, error: String(error) })
        return upTo
      })
      return upTo
    },
  }
}

/**
 * Distances of the probed numbers from the next one. The Governor may hold back a single number, so several are probed.
 */
const distances = [0n, 1n, 10n]
const mostRounds = 20
const above = 2n ** 64n

/** Probes servers for numbers above the highest known one, because a missed last message leaves no gap. */
export async function probeTail(deps: SourceCountDeps, from: string | undefined): Promise<NumberCounts> {
  const { source, bridge, submitter, lookup, streamClient, logger, isMissed } = deps
  const counts = { ...noNumbers }
  for (let round = 0; round < mostRounds; round++) {
    const { next = from, room = distances.length, paused } = streamClient.view ?? {}
    if (next === undefined || paused) break
    const numbers = distances.map((distance) => BigInt(next) + distance).filter((number) => number < above)
    // Transfers start before they are recorded, so the stream must have room for them.
    const outcomes = await fetchMessages({ source, bridge, submitter, lookup }, numbers.slice(0, room).map(String))
    const found = foundIn(outcomes)
    if (found.length === 0) break
    const response = await streamClient.apply(seenRequests(found, { missedBySpy: missedBySpy(outcomes, isMissed) }))
    if (response?.answers[0]?.kind !== 'done') break
    for (const [, status] of found) counts[status]++
    const facts = { stream: source.config.stream, numbers: found.map(([number]) => number).join(', ') }
    logger.info('servers have numbers above the highest received one', facts)
  }
  return counts
}
