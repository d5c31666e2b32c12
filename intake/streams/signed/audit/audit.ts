import { endedSince } from '../../../../temporal/client/streams/stream-transfers.ts'
import { limits } from '../../../../domain/stream/gaps.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { runAll } from '../../../../runtime/run-all.ts'
import { createOutcomeReporter } from '../../transfer-outcomes.ts'
import type { GapReport, GapsDeps } from '../gaps/gap-filler.ts'
import { createGaps } from './gaps.ts'
import { createProvedTransfers } from './proved-transfers.ts'
import { createSourceCount } from './source-count.ts'
import { createLostTransfers, graceMs, type LostTransfersDeps, reopenUndone, restartLost } from './lost-transfers.ts'

/** What an audit came to, in numbers. */
export interface SignedAudit extends GapReport {
  /** The source's own count at its finalized state; absent: it has published nothing. */
  readonly upTo?: string
  /** A final block that the count covers. */
  readonly height?: number
  /** Open numbers whose transfers were gone, or closed without an outcome, and started again. */
  readonly restarted: number
  /** Open numbers whose transfers had ended undelivered. */
  readonly closed: number
  /** Resolved numbers whose effect is gone. */
  readonly undone: number
}

export type SignedAuditor = ReturnType<typeof createSignedAuditor>

/** A suspect has been missed for long enough this much later than `graceMs`, ms. */
const marginMs = 500
const nothing: GapReport = { started: 0, delivered: 0, ignored: 0, absent: 0 }

/**
 * @param auditMs how often it audits: the measure of how often an absent number is asked for
 * @param begins as `createSourceCount`
 */
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
  const gaps = createGaps(deps, auditMs)
  const counted = createSourceCount(given, begins)

  /** Most streams of sources without a node never begin: the count has just asked for them. */
  const mayBeThere = () => !given.source.withoutNode || streamClient.view !== undefined

  async function fillGaps(): Promise<GapReport> {
    if (!mayBeThere()) return nothing
    const state = await streamClient.state()
    if (!state || state.paused || state.gaps.length === 0) return nothing
    // To classify a gap the count must not be older than the gap; to fetch its numbers no count is needed.
    return gaps.look(state, await counted.atLeast(state.gaps.at(-1)?.to ?? '0'))
  }

  async function auditTransfers(audit: { restarted: number; closed: number; undone: number }): Promise<void> {
    if (!mayBeThere()) return
    const state = await streamClient.state()
    if (!state) return
    let missing: readonly string[] = []
    await runAll(
      () => outcomes.look(state),
      async () => void (missing = await lost.find(state)),
      async () => {
        const numbers = new Set([...missing, ...outcomes.awaitingSignatures])
        // All that can be open: none waits behind others that no server has.
        Object.assign(audit, await restartLost(deps, [...numbers].slice(0, limits.open)))
      },
      async () => void (audit.undone = await reopenUndone(deps, state)),
    )
  }

  return {
    /** This process has verified the message of this id: its run is believed without being read. */
    know: proved.know,
    /** Records how transfers ended, and which are parked. */
    reportOutcomes: (state: StreamState) => outcomes.look(state),
    /** The gaps alone, by the last count. */
    fillGaps,
    hurry: () => gaps.hurry(),
    /** ms until the next audit is worth it though none is due; undefined: no open number is suspected to be lost. */
    get soonMs(): number | undefined {
      return lost.suspects ? graceMs + marginMs : undefined
    },
    /**
     * The stream against its source's own count, its gaps against the servers of the network, and its open numbers against their transfers. Throws as
     * `runAll`; what was recorded stays.
     */
    async audit(): Promise<SignedAudit> {
      const audit = { ...nothing, restarted: 0, closed: 0, undone: 0 }
      await runAll(
        async () => void Object.assign(audit, await counted.take()),
        async () => {
          const probed = { ...audit }
          Object.assign(audit, await fillGaps())
          for (const status of ['started', 'delivered', 'ignored'] as const) audit[status] += probed[status]
        },
        () => auditTransfers(audit),
      )
      const { upTo } = counted
      return { ...audit, ...(upTo !== undefined && { upTo }) }
    },
  }
}
