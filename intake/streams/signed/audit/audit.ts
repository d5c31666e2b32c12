import type { StreamState } from '../../../../domain/stream/stream.ts'
import { runAll } from '../../../../runtime/run-all.ts'
import { endedSince } from '../../../../temporal/client/streams/stream-transfers.ts'
import { createAuditCursor } from '../../audit-cursor.ts'
import { createOutcomeReporter } from '../../transfer-outcomes.ts'
import type { GapsDeps } from '../deps.ts'
import { createGapFiller, type GapReport, nothingFilled } from '../gaps/fill-gaps.ts'
import { createLostTransfers, graceMs, type LostTransfersDeps, reopenUndone, restartLost } from './lost-transfers.ts'
import { createProvedTransfers } from './proved-transfers.ts'
import { createSourceCount } from './source-count.ts'

export interface SignedAudit extends GapReport {
  readonly upTo?: string
  readonly height?: number
  readonly restarted: number
  readonly closed: number
  readonly undone: number
}

export type SignedAuditor = ReturnType<typeof createSignedAuditor>

/** Added to `graceMs` (ms), so that the next audit is late enough to count a suspected number as lost. */
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
    /** Time (ms) until the next audit if open numbers may be lost. Otherwise undefined. */
    get soonMs(): number | undefined {
      return lost.suspects ? graceMs + marginMs : undefined
    },
    /** Compares the stream with source, servers and transfers. Records all findings, and throws the first failure. */
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
