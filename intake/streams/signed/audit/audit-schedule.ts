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

export function createAuditSchedule({ auditor, recorder, chain, source, streamClient, auditMs, logger }: AuditScheduleOptions) {
  const tail = createTailProof(chain.heads)
  let auditAt = 0
  let fillAt = 0
  let isAuditOwed = false
  let missing = 0
  let [next, completed] = [-1n, -1]

  /** Whether Temporal was wiped or restored. Then later records are lost, and perhaps transfers, too. */
  function hasGoneBack(known: StreamView): boolean {
    const isBack = BigInt(known.next) < next || known.counts.completed < completed
    next = BigInt(known.next)
    completed = known.counts.completed
    return isBack
  }

  /** Gaps are filled before the audit, because filling them needs no node of the source. */
  async function fillGaps(now: number, count: number): Promise<boolean> {
    if (count > missing) fillAt = Math.min(fillAt, now + settleMs)
    missing = count
    if (count === 0 || now < fillAt) return false
    // Set first, because if filling fails, a due audit must not wait for the failing servers.
    fillAt = now + afterFailureMs
    fillAt = (await auditor.fillGaps()).nextAt ?? Infinity
    return true
  }

  async function audit(now: number): Promise<void> {
    isAuditOwed = true
    auditAt = now + Math.min(auditMs, afterFailureMs)
    const endProof = tail.take()
    // Records received numbers first, so that they do not count as gaps.
    await recorder.flush()
    const { nextAt, restarted, closed, undone } = await auditor.audit()
    endProof()
    isAuditOwed = false
    fillAt = nextAt ?? Infinity
    // Random, so that processes that audit the same stream do not audit it at the same time.
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
      const now = Date.now()
      const known = streamClient.view
      if (known && hasGoneBack(known)) auditAt = 0
      const isFilled = await fillGaps(now, known ? missingIn(known) : 0)
      if (now < auditAt && !tail.isDue()) return isFilled && !isAuditOwed ? false : undefined
      await audit(now)
      return false
    },
    hurry,
    subscribed(): void {
      tail.begin()
      hurry()
    },
    close: tail.close,
  }
}

/** The first head after a subscription opened may have been requested before. The second head was requested after. */
const headsToSee = 2

/** Guardians sign existing blocks: once a subscription's first head is final, the count has all older messages. */
export function createTailProof(heads: Pick<Heads, 'current' | 'subscribe'>) {
  let pending: { seen: number; head?: number } | undefined
  const close = heads.subscribe(({ latest }) => {
    if (pending && pending.head === undefined && ++pending.seen >= headsToSee) pending.head = latest.height
  })
  const isDue = () => pending?.head !== undefined && (heads.current?.finalized ?? -1) >= pending.head
  return {
    /** Call this when the subscription opens. From then on, messages of new blocks are received. */
    begin(): void {
      pending = { seen: 0 }
    },
    isDue,
    /** Call this before reading the count, and its result after recording the count. Subscriptions need one each. */
    take(): () => void {
      const taken = isDue() ? pending : undefined
      return () => {
        if (pending === taken) pending = undefined
      }
    },
    close,
  }
}
