import type { Client } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'

/** The text that a workflow set last with `setCurrentDetails`. */
export async function currentDetails({ workflow }: Client, id: string): Promise<string> {
  const metadata = await workflow.getHandle(id).query<{ currentDetails?: string }>('__temporal_workflow_metadata')
  return metadata.currentDetails ?? ''
}

export async function activitySummaries({ workflow }: Client, id: string): Promise<string[]> {
  const { events } = await workflow.getHandle(id).fetchHistory()
  return (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary ? [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)] : [],
  )
}

/**
 * Summaries of a run's timers, or of its timers and steps, in the order of the events. A missing summary is an empty
 * text.
 */
export async function summaries({ workflow }: Client, id: string, of: 'timer' | 'any', runId?: string): Promise<string[]> {
  const { events } = await workflow.getHandle(id, runId).fetchHistory()
  return (events ?? []).flatMap(({ userMetadata, timerStartedEventAttributes: timer, activityTaskScheduledEventAttributes: step }) => {
    if (!timer && !(of === 'any' && step)) return []
    return [userMetadata?.summary ? defaultPayloadConverter.fromPayload<string>(userMetadata.summary) : '']
  })
}
