import type { FixtureName, RecordedEvent, RecordedHistory } from './fixtures.ts'

/** A `patched` id, and the place in the workflow where it is asked for. */
interface Patch {
  /** Recorded by the release that has the patch. */
  readonly with: FixtureName
  /** Recorded by a release before, and comes to the same place. */
  readonly without: FixtureName
  /** What brings a run to that place (see `traceOf`), in this order; other events may be between. */
  readonly after: readonly string[]
  /** What `without` does there instead, next. */
  readonly instead: string
}

export const patches: Readonly<Record<string, Patch>> = {
  'stream-aside': { with: 'stream-aside', without: 'stream-first-run', after: ['started'], instead: 'update accepted' },
  'ends-by-nonces': {
    with: 'cancelled-by-nonces',
    without: 'cancelled-with-noop',
    after: ['broadcast scheduled', 'signal cancel', 'withdraw completed', 'broadcast completed'],
    instead: 'local confirm',
  },
  'cancel-by-temporal': {
    with: 'cancelled-by-temporal',
    without: 'ended-by-temporal',
    after: ['broadcast scheduled', 'broadcast completed', 'cancel requested'],
    instead: 'ended',
  },
  'refused-after-sent': {
    with: 'operator-transaction-refused-later',
    without: 'operator-transaction-refused',
    after: ['sendOperatorTransaction completed', 'sendOperatorTransaction failed'],
    instead: 'ended',
  },
}

/** The patch ids that a run has recorded. */
export function patchesOf(history: RecordedHistory): string[] {
  return traceOf(history).flatMap((word) => (word.startsWith('patch ') ? word.slice('patch '.length) : []))
}

/** True if the run comes to the place of the patch, and there asks for it with the marker, or does what it did before there was one. */
export function comesToPlace(history: RecordedHistory, id: string, { after, instead }: Patch): boolean {
  const trace = traceOf(history)
  let at = 0
  for (const wanted of after) {
    at = trace.indexOf(wanted, at) + 1
    if (at === 0) return false
  }
  return trace[at] === (trace.includes(`patch ${id}`) ? `patch ${id}` : instead)
}

/** What a run met and did, one word per event; what says nothing of its way through the workflow is left out. */
function traceOf({ events }: RecordedHistory): string[] {
  const stepOf = (scheduledEventId: string | undefined) => {
    const scheduled = events.find(({ eventId }) => eventId === scheduledEventId)
    return scheduled?.activityTaskScheduledEventAttributes?.activityType.name ?? 'unknown'
  }
  return events.flatMap((event) => {
    if (event.activityTaskScheduledEventAttributes) return `${event.activityTaskScheduledEventAttributes.activityType.name} scheduled`
    if (event.activityTaskCompletedEventAttributes)
      return `${stepOf(event.activityTaskCompletedEventAttributes.scheduledEventId)} completed`
    if (event.activityTaskFailedEventAttributes) return `${stepOf(event.activityTaskFailedEventAttributes.scheduledEventId)} failed`
    if (event.workflowExecutionSignaledEventAttributes) return `signal ${event.workflowExecutionSignaledEventAttributes.signalName}`
    return markerOf(event) ?? plain[event.eventType] ?? []
  })
}

const plain: Readonly<Record<string, string>> = {
  EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: 'started',
  EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: 'update accepted',
  EVENT_TYPE_TIMER_STARTED: 'timer started',
  EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: 'ended',
  EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: 'cancel requested',
  EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: 'ended',
}

function markerOf({ markerRecordedEventAttributes: marker }: RecordedEvent): string | undefined {
  const data = (field: string): unknown => {
    const encoded = marker?.details?.[field]?.payloads[0]?.data
    return encoded === undefined ? {} : JSON.parse(Buffer.from(encoded, 'base64').toString())
  }
  if (marker?.markerName === 'core_patch') return `patch ${(data('patch-data') as { id?: string }).id}`
  if (marker?.markerName === 'core_local_activity') return `local ${(data('data') as { activity_type?: string }).activity_type}`
  return undefined
}
