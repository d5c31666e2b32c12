import type { Client } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'

/** The details that a workflow shows now: the text of `setCurrentDetails`. */
export async function currentDetails({ workflow }: Client, id: string): Promise<string> {
  const metadata = await workflow.getHandle(id).query<{ currentDetails?: string }>('__temporal_workflow_metadata')
  return metadata.currentDetails ?? ''
}

/** Parts of the Web UI's page other than the steps of a workflow, in display sequence. */
export async function activitySummaries({ workflow }: Client, id: string): Promise<string[]> {
  const { events } = await workflow.getHandle(id).fetchHistory()
  return (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary ? [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)] : [],
  )
}

/** Summaries of a run's timers, or of its timers and steps, in order. Empty: it has none. */
export async function summaries({ workflow }: Client, id: string, of: 'timer' | 'any', runId?: string): Promise<string[]> {
  const { events } = await workflow.getHandle(id, runId).fetchHistory()
  return (events ?? []).flatMap(({ userMetadata, timerStartedEventAttributes: timer, activityTaskScheduledEventAttributes: step }) => {
    if (!timer && !(of === 'any' && step)) return []
    return [userMetadata?.summary ? defaultPayloadConverter.fromPayload<string>(userMetadata.summary) : '']
  })
}
