import { toRelayerError } from '../../domain/errors.ts'
import { limits } from '../../domain/stream/gaps.ts'
import { type NumberStatus, seenRequest } from '../number-status.ts'
import { createOutcomes, type Outcomes, type OutcomesDeps } from './outcomes.ts'
import { fetchMissing } from './fetch-missing.ts'
import { createGapFiller, type GapReport, type GapFiller, type GapsDeps } from './gap-filler.ts'

/** What an audit came to, in numbers. */
export interface SignedAudit extends GapReport {
  /** The source's own count at its finalized state; absent: it has published nothing. */
  readonly upTo?: string
  /** A final block of the source at the time. */
  readonly height?: number
  /** Open numbers whose transfers were gone, or closed without an outcome, and started again. */
  readonly restarted: number
  /** Open numbers whose transfers had ended undelivered. */
  readonly closed: number
  /** Resolved numbers whose effect is gone. */
  readonly undone: number
}

export interface SignedAuditor {
  readonly ends: Outcomes
  readonly gaps: GapFiller
  /**
   * The stream against its source's own count, its gaps against the servers of the network, and its open numbers against their transfers. Each part is
   * done whatever becomes of the others; then throws what the first that failed has thrown. What was told stays, and nothing is lost.
   */
  audit(): Promise<SignedAudit>
  /** The gaps alone, by the last count. */
  look(): Promise<GapReport>
}

/** Looked for again in one audit: all that can be open, so that none stands behind others that nobody has. */
const mostLost = limits.open
const nothing: GapReport = { started: 0, delivered: 0, ignored: 0, absent: 0 }

/** @param auditMs how often it audits: the measure of how often an absent number is asked for */
export function createSignedAuditor(deps: GapsDeps & OutcomesDeps, auditMs: number): SignedAuditor {
  const { source, chain, streamClient, logger } = deps
  const { stream } = source.config
  const ends = createOutcomes(deps)
  const gaps = createGapFiller(deps, auditMs)
  let upTo: string | undefined

  /** What an agent of another process, or before Temporal was restored, has told as started, and is not there. */
  async function findLost(numbers: readonly string[]): Promise<{ restarted: number; closed: number }> {
    if (numbers.length === 0) return { restarted: 0, closed: 0 }
    const outcomes = await fetchMissing(deps, numbers)
    const seen = [...outcomes].flatMap(([number, { kind }]): [string, NumberStatus][] =>
      kind === 'absent' || kind === 'unknown' ? [] : [[number, kind]],
    )
    if (seen.length > 0) await streamClient.apply([seenRequest(seen)])
    const again = [...outcomes].flatMap(([number, one]) => (one.kind === 'started' && one.status === 'started' ? [number] : []))
    if (again.length > 0) logger.warn('transfers that were open and gone are started again', { stream, numbers: again.join(', ') })
    return { restarted: again.length, closed: await ends.settle(outcomes) }
  }

  /** The final block of which the source's count was told, or a lower one; undefined: nothing was. */
  async function count(): Promise<number | undefined> {
    // Read before the count: the count is that of this block or of a later one.
    const height = chain.heads.current?.finalized
    upTo = await source.highest(upTo)
    if (upTo === undefined || height === undefined) return undefined
    await streamClient.apply([{ kind: 'audited', upTo, height, present: [] }])
    return height
  }

  async function look(): Promise<GapReport> {
    const state = await streamClient.state()
    if (!state || state.paused || state.gaps.length === 0) return nothing
    // Names need a count that is not older than what is missing; what is fetched needs none.
    if (upTo === undefined || BigInt(state.gaps.at(-1)?.to ?? 0) > BigInt(upTo)) {
      upTo = await source.highest(upTo).catch((error: unknown) => {
        logger.debug('the source was not counted', { stream, error: String(error) })
        return upTo
      })
    }
    return gaps.look(state, upTo)
  }

  return {
    ends,
    gaps,
    look,
    async audit() {
      const errors: unknown[] = []
      const attempt = async <T>(part: () => Promise<T>, otherwise: T): Promise<T> => {
        try {
          return await part()
        } catch (error) {
          errors.push(error)
          return otherwise
        }
      }
      const height = await attempt(count, undefined)
      const missing = await attempt(look, nothing)
      const state = await streamClient.state()
      if (state) await attempt(() => ends.look(state), undefined)
      const lost = state ? await attempt(() => ends.lost(state), []) : []
      const found = await attempt(() => findLost([...new Set([...lost, ...ends.aged])].slice(0, mostLost)), { restarted: 0, closed: 0 })
      const undone = state ? await attempt(() => ends.reopen(state), 0) : 0
      if (errors.length > 0) throw toRelayerError(errors[0])
      return { ...missing, ...found, ...(height !== undefined && { height }), ...(upTo !== undefined && { upTo }), undone }
    },
  }
}
