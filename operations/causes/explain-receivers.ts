import { oldestUnsent, standsSince } from '../../domain/notification/notifier.ts'
import type { Facts, ReceiverFacts } from './facts.ts'
import type { Finding } from './finding.ts'
import { errorOf, valueOf } from './read.ts'

/** Steps that no process has taken for so long: the one that polled was killed, ms. */
const untakenMs = 8_000
/** A step that was tried so often fails, or is taken and not answered. */
const triesUntilFailing = 3

/** Which receivers of notifications are told nothing, or do not take it: one row for each. */
export function explainReceivers({ at, receivers, ledger }: Pick<Facts, 'at' | 'receivers' | 'ledger'>): Finding[] {
  // Where nobody serves the ledger, that is the cause.
  if (ledger.answered === 0) return []
  return receivers.flatMap((one): Finding[] => {
    const found = explainOne(one, at)
    if (!found) return []
    const { receiver, notifier, waiting = 0 } = one
    const state = valueOf(notifier)
    const oldest = state && oldestUnsent(state)
    return [
      {
        where: { kind: 'receiver', id: receiver },
        asOf: state?.recordedAt ?? notifier.asOf,
        values: { receiver },
        numbers: { count: waiting, ...(oldest !== undefined && { oldest }) },
        ...found,
      },
    ]
  })
}

function explainOne(one: ReceiverFacts, at: number): Pick<Finding, 'row' | 'what' | 'since'> | undefined {
  const { receiver, notifier } = one
  const state = valueOf(notifier)
  const { disabled, failure, unsent = [] } = state ?? {}
  if (disabled?.why === 'gone') return { row: 'RECEIVER_GONE', since: disabled.at, what: `${receiver} answered 410: it wants no more.` }
  if (disabled)
    return { row: 'RECEIVER_DISABLED', since: disabled.at, what: `${receiver} is disabled by ${disabled.by}: ${disabled.reason}` }
  const untold = explainUnservedReceivers(one, at)
  if (untold) return { row: 'RECEIVER_UNSERVED', ...untold }
  if (failure)
    return { row: 'RECEIVER_FAILING', since: failure.since, what: `${receiver} was tried ${failure.tries} times: ${failure.why}.` }
  const last = unsent.toSorted((a, b) => b.tries - a.tries)[0]
  if (!last) return undefined
  const what = `${receiver} refuses ${unsent.length} of what it is told, one of them ${last.tries} times: ${last.why}.`
  return { row: 'RECEIVER_FAILING', what }
}

function explainUnservedReceivers(
  { receiver, notifier, queue: steps, step }: ReceiverFacts,
  at: number,
): Pick<Finding, 'what' | 'since'> | undefined {
  if (errorOf(notifier)) return { what: `The notifier of ${receiver} does not answer.` }
  const queue = valueOf(steps)
  if (queue && (!queue.isPolled || (queue.waiting > 0 && queue.waitingMs > untakenMs)))
    return { since: queue.polledAt, what: `No process takes the steps that tell ${receiver} what happened.` }
  const state = valueOf(notifier)
  if (!state) return { what: `The notifier of ${receiver} has not begun: no process has it in its config.` }
  // Left alone until its next try.
  const since = state.failure ? undefined : standsSince(state, at)
  if (since === undefined) return undefined
  if (!step) return { since, what: `No process that tells receivers has ${receiver} in its config.` }
  const { tries, failure = 'it is not answered' } = step
  return tries < triesUntilFailing ? undefined : { since, what: `The step that tells ${receiver} was tried ${tries} times: ${failure}` }
}
