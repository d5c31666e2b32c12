import type { Heads } from '../../../../chains/port.ts'
import type { StreamView } from '../../../../domain/stream/stream.ts'
import type { Step } from '../../loop.ts'
import { missingIn } from '../../number-status.ts'
import type { SignedDeps } from '../deps.ts'
import { settleMs } from '../gaps/fill-gaps.ts'
import type { Recorder } from '../recorder.ts'
import type { SignedAuditor } from './audit.ts'

interface AuditScheduleOptions extends Pick<SignedDeps, 'source' | 'chain' | 'streamClient' | 'logger'> {
  readonly auditor: SignedAuditor
  readonly recorder: Pick<Recorder, 'flush'>
  readonly auditMs: number
}

const afterFailureMs = 5_000
/** Minimum time between two audits that new subscriptions cause, ms. A spy can end its subscriptions at will. */
const subscriptionAuditMs = 60_000

export function createAuditSchedule({ auditor, recorder, chain, source, streamClient, auditMs, logger }: AuditScheduleOptions) {
  const tail = createTailProof(chain.heads)
  let auditAt = 0
  let tailAt = -Infinity
  let fillAt = 0
  let isAuditOwed = false
  let missing = 0
  const hasGoneBack = createLossWatch()
  let plannedAt = -Infinity

  /** Fills gaps if it is time. This needs no node of the source. */
  async function fillGaps(now: number, count: number): Promise<boolean> {
    if (count > missing) fillAt = Math.min(fillAt, now + settleMs)
    missing = count
    if (count === 0 || now < fillAt) return false
    fillAt = now + afterFailureMs
    fillAt = (await auditor.fillGaps()).nextAt ?? Infinity
    return true
  }

  async function audit(now: number): Promise<void> {
    isAuditOwed = true
    auditAt = now + Math.min(auditMs, afterFailureMs)
    const endProof = tail.take()
    await recorder.flush()
    const { nextAt, restarted, closed, undone } = await auditor.audit()
    endProof()
    isAuditOwed = false
    fillAt = nextAt ?? Infinity
    // Random, so that processes do not audit the same stream at the same time.
    auditAt = now + Math.min(auditMs * (0.9 + Math.random() * 0.2), auditor.soonMs ?? Infinity)
    const found = { stream: source.config.stream, count: closed + undone, closed, undone, restarted }
    if (found.count > 0) logger.warn('the audit found numbers that had ended or were undone', { code: 'AUDIT_CORRECTED', ...found })
  }

  function hurry(): void {
    auditor.hurry()
    fillAt = 0
    auditAt = 0
  }

  return {
    async step(): ReturnType<Step> {
      const now = performance.now()
      const known = streamClient.view
      if (known && hasGoneBack(known)) auditAt = 0
      const isFilled = await fillGaps(now, known ? missingIn(known) : 0)
      const isTailDue = tail.isDue() && now >= tailAt + subscriptionAuditMs
      if (now < auditAt && !isTailDue) return isFilled && !isAuditOwed ? false : undefined
      if (isTailDue) tailAt = now
      await audit(now)
      return false
    },
    hurry,
    subscribed(): void {
      tail.begin()
      const now = performance.now()
      if (plannedAt > now) return
      plannedAt = Math.max(now, plannedAt + subscriptionAuditMs)
      if (plannedAt > now) auditAt = Math.min(auditAt, plannedAt)
      else hurry()
    },
    close: tail.close,
  }
}

/**
 * Returns a function that says whether the stream lacks records that an earlier view had, because Temporal was wiped or
 * restored.
 */
function createLossWatch(): (known: StreamView) => boolean {
  let [next, completed] = [-1n, -1]
  return (known) => {
    const isBack = BigInt(known.next) < next || known.counts.completed < completed
    next = BigInt(known.next)
    completed = known.counts.completed
    return isBack
  }
}

/** Number of heads to wait for. The first head may have been requested before the subscription opened. */
const headsToSee = 2

/**
 * Knows when an audit can prove that no message before the subscription is missing. Once a head after the subscription
 * is final, the source's count covers all messages before the subscription.
 */
export function createTailProof(heads: Pick<Heads, 'current' | 'subscribe'>) {
  let pending: { seen: number; head?: number } | undefined
  const close = heads.subscribe(({ latest }) => {
    if (pending && pending.head === undefined && ++pending.seen >= headsToSee) pending.head = latest.height
  })
  const isDue = () => pending?.head !== undefined && (heads.current?.finalized ?? -1) >= pending.head
  return {
    begin(): void {
      pending = { seen: 0 }
    },
    isDue,
    /** Call this before the count is read. Call the returned function after the count is recorded. */
    take(): () => void {
      const taken = isDue() ? pending : undefined
      return () => {
        if (pending === taken) pending = undefined
      }
    },
    close,
  }
}
