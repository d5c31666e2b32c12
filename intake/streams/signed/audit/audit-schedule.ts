import type { StreamView } from '../../../../domain/stream/stream.ts'
import type { SignedAuditor } from './audit.ts'
import type { Look } from '../../loop.ts'
import { missingIn } from '../../number-status.ts'
import { settleMs } from '../gaps/gap-filler.ts'
import type { SignedDeps } from '../deps.ts'
import type { Recorder } from '../recorder.ts'
import type { TailProof } from './tail-proof.ts'

export interface AuditScheduleOptions extends Pick<SignedDeps, 'source' | 'streamClient' | 'logger'> {
  readonly auditor: SignedAuditor
  readonly recorder: Pick<Recorder, 'flush'>
  readonly tail: Pick<TailProof, 'isDue' | 'take'>
  /** How often the stream is held against its source, ms. */
  readonly auditMs: number
}

/** Wait after a failure, ms. */
const afterFailureMs = 5_000

/** When an emitter's gaps are filled, and when its stream is audited. */
export function createAuditSchedule({ auditor, recorder, tail, source, streamClient, auditMs, logger }: AuditScheduleOptions) {
  let auditAt = 0
  let fillAt = 0
  let isAuditOwed = false
  let missing = 0
  let [next, completed] = [-1n, -1]

  /** Temporal was wiped, or restored from a copy, since the last look: what was recorded meanwhile is gone, and so may be the transfers. */
  function hasGoneBack(known: StreamView): boolean {
    const isBack = BigInt(known.next) < next || known.counts.completed < completed
    next = BigInt(known.next)
    completed = known.counts.completed
    return isBack
  }

  /** True: the gaps were looked at. They come first: they need no node of the source. */
  async function fillGaps(now: number, count: number): Promise<boolean> {
    if (count > missing) fillAt = Math.min(fillAt, now + settleMs)
    missing = count
    if (count === 0 || now < fillAt) return false
    // If it fails: a due audit must not wait for servers that fail.
    fillAt = now + afterFailureMs
    fillAt = (await auditor.fillGaps()).nextAt ?? Infinity
    return true
  }

  async function audit(now: number): Promise<void> {
    isAuditOwed = true
    auditAt = now + Math.min(auditMs, afterFailureMs)
    const proofIsMade = tail.take()
    // A number that was heard and not recorded yet is no gap.
    await recorder.flush()
    const { nextAt, restarted, closed, undone } = await auditor.audit()
    proofIsMade()
    isAuditOwed = false
    fillAt = nextAt ?? Infinity
    // Several processes audit the same stream: not all at once.
    auditAt = now + Math.min(auditMs * (0.9 + Math.random() * 0.2), auditor.soonMs ?? Infinity)
    // What was started again is said with its numbers where that is done.
    if (closed + undone > 0)
      logger.warn('the audit of a stream found open numbers that were not', {
        code: 'AUDIT_CORRECTED',
        ...{ stream: source.config.stream, count: closed + undone, closed, undone, restarted },
      })
  }

  return {
    async look(): ReturnType<Look> {
      const now = Date.now()
      const known = streamClient.view
      if (known && hasGoneBack(known)) auditAt = 0
      const isFilled = await fillGaps(now, known ? missingIn(known) : 0)
      if (now < auditAt && !tail.isDue()) return isFilled && !isAuditOwed ? false : undefined
      await audit(now)
      return false
    },
    /** Both are due now. */
    hurry(): void {
      auditor.hurry()
      fillAt = 0
      auditAt = 0
    },
  }
}
