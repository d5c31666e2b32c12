import type { Client } from '@temporalio/client'
import { round } from './statistics.ts'

/** Average number of events in a history, by type. A local activity counts as one `markerRecorded`. */
export type Shape = Readonly<Record<string, number>>

export async function historyShape(client: Client, workflowIds: readonly string[]): Promise<Shape> {
  const histories = await Promise.all(
    workflowIds.map(async (id) => (await client.workflow.getHandle(id).fetchHistory()).events?.map(nameOf) ?? []),
  )
  return shapeOf(histories)
}

/** Returns the shape of the histories, with the most frequent type of event first. */
export function shapeOf(histories: readonly (readonly string[])[]): Shape {
  const counts = new Map<string, number>()
  for (const name of histories.flat()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const ordered = [...counts].toSorted(([, a], [, b]) => b - a)
  return Object.fromEntries(ordered.map(([name, count]) => [name, round(count / histories.length)]))
}

function nameOf(event: object): string {
  const attributes = Object.entries(event).find(([key, value]) => key.endsWith('EventAttributes') && value)
  return attributes?.[0].replace('EventAttributes', '') ?? 'unknown'
}
