import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { WorkflowHandle } from '@temporalio/client'
import type { RecordedEvent, RecordedHistory } from '../replay/fixtures.ts'

/** Name of the local activity to which a marker event belongs. Undefined for other events. */
function stepOf({ markerRecordedEventAttributes: marker }: RecordedEvent): string | undefined {
  const data = marker?.markerName === 'core_local_activity' ? marker.details?.['data']?.payloads[0]?.data : undefined
  return data === undefined ? undefined : (JSON.parse(Buffer.from(data, 'base64').toString()) as { activity_type?: string }).activity_type
}

/**
 * A history as a busy process makes it: the local activity `step` ends with one workflow task, and the next commands
 * come with the next task. All later events must belong to the same task.
 */
export async function splitAfter(handle: WorkflowHandle, step: string): Promise<RecordedHistory> {
  const { events } = JSON.parse(historyToJSON(await handle.fetchHistory())) as RecordedHistory
  const before = events.findLastIndex((event) => stepOf(event) === step) + 1
  const completed = events.slice(0, before).findLastIndex(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED')
  const renumbered = (event: RecordedEvent, id: (old: number) => number) =>
    JSON.parse(JSON.stringify(event), (key, value: unknown) => (/eventId$/i.test(key) ? String(id(Number(value))) : value)) as RecordedEvent
  const task = events.slice(completed - 2, completed + 1)
  return {
    events: [
      ...events.slice(0, before),
      ...task.map((event) => renumbered(event, (old) => old + before - completed + 2)),
      ...events.slice(before).map((event) => renumbered(event, (old) => (old > before ? old + task.length : before + task.length))),
    ],
  }
}
