import { notifierLimits, type NotifierState, type UnsentNotification } from './notifier.ts'
import type { Notification } from './notification.ts'

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]

export interface AttemptSchedule {
  readonly triesMs: readonly number[]
  /** Pauses (ms) before the next requests to a receiver that does not answer. */
  readonly restsMs: readonly number[]
}

/** Ten tries in three days, as the Standard Webhooks specification recommends. */
export const attemptSchedule: AttemptSchedule = {
  triesMs: [5 * secondMs, 5 * minuteMs, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)],
  restsMs: [5 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs],
}
export const longestRestMs = hourMs
/** Longest wait for the next try of a notification, ms. */
const longestTryMs = withJitter(Math.max(...attemptSchedule.triesMs), 1)
/**
 * A notification with this number of tries may itself cause the failures, so it waits even after the receiver has taken
 * another notification.
 */
const triesUntilAlone = 3

/** `taken`: 2xx. `gone`: 410. `failed`: no answer, 5xx, 408, 425, 429, or an unreadable secret. `refused`: the rest. */
export type SendAnswer =
  | { readonly kind: 'taken' }
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs?: number | undefined }

export interface AttemptFacts {
  readonly now: number
  /** A random number from 0 to 1, which lengthens a wait by up to a fifth, so that retries spread. */
  readonly jitter: number
  readonly schedule?: AttemptSchedule | undefined
}

/**
 * The state after a try. Portage gives up on a notification after enough refusals, but never because of missing
 * answers.
 */
export function afterAttempt(state: NotifierState, notification: Notification, answer: SendAnswer, facts: AttemptFacts): NotifierState {
  const { now, jitter, schedule: { triesMs } = attemptSchedule } = facts
  const others = state.unsent.filter((one) => one.notification.id !== notification.id)
  const pending = state.pending.filter(({ id }) => id !== notification.id)
  const { counts } = state
  if (notification.type === 'notification.test') return afterTest({ ...state, pending, unsent: others }, notification, answer, facts)
  if (answer.kind === 'taken') {
    const unsent = state.failure ? others.map((one) => (one.tries < triesUntilAlone ? { ...one, nextAt: now } : one)) : others
    return { ...state, pending, unsent, failure: undefined, counts: { ...counts, sent: counts.sent + 1 }, lastSentAt: now }
  }
  const failed = { ...state, pending, counts: { ...counts, failed: counts.failed + 1 }, ...receiverAfter(state, answer, facts) }
  const tries = (state.unsent.find((one) => one.notification.id === notification.id)?.tries ?? 0) + 1
  if (answer.kind === 'refused' && tries > triesMs.length)
    return { ...failed, unsent: others, counts: { ...failed.counts, givenUp: counts.givenUp + 1 } }
  const waitMs = withJitter(triesMs[Math.min(tries, triesMs.length) - 1] ?? 0, jitter)
  const kept: UnsentNotification = { notification, tries, nextAt: now + waitMs, why: answer.why }
  return { ...failed, unsent: [...others, kept] }
}

function afterTest(state: NotifierState, { id }: Notification, answer: SendAnswer, facts: AttemptFacts): NotifierState {
  const why = answer.kind === 'taken' ? {} : { why: answer.why }
  const result = { id, at: facts.now, taken: answer.kind === 'taken', ...why }
  const after = answer.kind === 'taken' ? { failure: undefined } : receiverAfter(state, answer, facts)
  return { ...state, ...after, tests: [...state.tests, result].slice(-notifierLimits.tests) }
}

function receiverAfter({ failure }: NotifierState, answer: SendAnswer, facts: AttemptFacts): Partial<NotifierState> {
  const { now, jitter, schedule: { restsMs } = attemptSchedule } = facts
  if (answer.kind === 'gone') return { disabled: { why: 'gone', at: now } }
  if (answer.kind !== 'failed') return {}
  // Parallel tries fail together, so only the first failure counts.
  if (failure && !isDue(failure.nextAt, now, longestRestMs)) return {}
  const tries = (failure?.tries ?? 0) + 1
  const restMs = withJitter(restsMs[Math.min(tries, restsMs.length) - 1] ?? 0, jitter)
  const waitMs = Math.min(longestRestMs, Math.max(restMs, answer.retryAfterMs ?? 0))
  return { failure: { since: failure?.since ?? now, tries, nextAt: now + waitMs, why: answer.why } }
}

function withJitter(ms: number, jitter: number): number {
  return Math.round(ms * (1 + jitter / 5))
}

export function dueUnsent({ unsent }: NotifierState, now: number): readonly UnsentNotification[] {
  return unsent.filter(({ nextAt }) => isDue(nextAt, now, longestTryMs)).toSorted((a, b) => a.nextAt - b.nextAt)
}

/** Whether `at` is over, or more than `mostMs` in the future: then the clock has been set back since. */
function isDue(at: number, now: number, mostMs: number): boolean {
  return at <= now || at > now + mostMs
}

export function hasRoom({ unsent, pending }: NotifierState, most: number = notifierLimits.unsent): boolean {
  return unsent.length + pending.length < most
}
