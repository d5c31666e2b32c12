import { oldestUnsent, silentSince } from '../../domain/notification/notifier.ts'
import { errorOf, type Facts, type ReceiverFacts, valueOf } from './facts.ts'
import { type Finding, isolated } from './finding.ts'
import { triesUntilFailing } from './read.ts'

/** If a step waits this long, the process that last polled counts as killed. */
const untakenMs = 8_000

export function explainReceivers({ at, receivers, ledger }: Pick<Facts, 'at' | 'receivers' | 'ledger'>): Finding[] {
  if (ledger.answered === 0) return []
  return receivers.flatMap((one) => isolated(`the receiver ${one.receiver}`, at, () => explainReceiver(one, at)))
}

function explainReceiver(one: ReceiverFacts, at: number): Finding[] {
  const found = explainOne(one, at)
  if (!found) return []
  const { receiver, notifier, waiting = 0 } = one
  const state = valueOf(notifier)
  const oldest = state && oldestUnsent(state)
  const of = { where: { kind: 'receiver', id: receiver } as const, asOf: state?.recordedAt ?? notifier.asOf, values: { receiver } }
  return [{ ...of, numbers: { count: waiting, oldest }, ...found }]
}

function explainOne(one: ReceiverFacts, at: number): Pick<Finding, 'row' | 'what' | 'since'> | undefined {
  const { receiver, notifier } = one
  const { disabled, failure, unsent = [] } = valueOf(notifier) ?? {}
  if (disabled?.why === 'gone') return { row: 'RECEIVER_GONE', since: disabled.at, what: `${receiver} answered 410: it wants no more.` }
  if (disabled)
    return { row: 'RECEIVER_DISABLED', since: disabled.at, what: `${receiver} is disabled by ${disabled.by}: ${disabled.reason}` }
  const unserved = explainUnserved(one, at)
  if (unserved) return { row: 'RECEIVER_UNSERVED', ...unserved }
  if (failure)
    return { row: 'RECEIVER_FAILING', since: failure.since, what: `${receiver} was tried ${failure.tries} times: ${failure.why}.` }
  const last = unsent.toSorted((a, b) => b.tries - a.tries)[0]
  if (!last) return undefined
  const what = `${receiver} refuses ${unsent.length} notifications, one of them ${last.tries} times: ${last.why}.`
  return { row: 'RECEIVER_FAILING', what }
}

function explainUnserved(
  { receiver, notifier, queue: steps, step }: ReceiverFacts,
  at: number,
): Pick<Finding, 'what' | 'since'> | undefined {
  if (errorOf(notifier)) return { what: `The notifier of ${receiver} does not answer.` }
  const queue = valueOf(steps)
  if (queue && (!queue.isPolled || (queue.waiting > 0 && queue.waitingMs > untakenMs)))
    return { since: queue.polledAt, what: `No process takes the steps that notify ${receiver}.` }
  const state = valueOf(notifier)
  if (!state) return { what: `The notifier of ${receiver} has not begun: no process has it in its config.` }
  // A failing receiver is not notified before its next try, so its silence is normal.
  const since = state.failure ? undefined : silentSince(state, at)
  if (since === undefined) return undefined
  if (!step) return { since, what: `No process that notifies receivers has ${receiver} in its config.` }
  const { tries, failure = 'no answer' } = step
  return tries < triesUntilFailing ? undefined : { since, what: `The step that notifies ${receiver} was tried ${tries} times: ${failure}` }
}
