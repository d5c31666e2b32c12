import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AuditReport } from '../../temporal/contracts/audit.ts'
import type { BatchStatus } from '../../temporal/contracts/batch.ts'
import type { OperatorTransactionStatus } from '../../temporal/contracts/operator-transaction.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'

/** A history as `temporal workflow show --output json` writes it. Only fields that the tests read have types. */
export interface RecordedHistory {
  readonly events: readonly RecordedEvent[]
}

export interface RecordedEvent {
  readonly eventId: string
  readonly eventType: string
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string } }
  readonly activityTaskStartedEventAttributes?: { readonly attempt?: number }
  readonly activityTaskCompletedEventAttributes?: { readonly scheduledEventId: string }
  readonly activityTaskFailedEventAttributes?: { readonly scheduledEventId: string }
  readonly workflowExecutionStartedEventAttributes?: { readonly continuedExecutionRunId?: string }
  readonly markerRecordedEventAttributes?: {
    readonly markerName: string
    readonly details?: Readonly<Record<string, { readonly payloads: readonly { readonly data: string }[] }>>
  }
  readonly workflowExecutionSignaledEventAttributes?: { readonly signalName: string }
  readonly workflowExecutionCompletedEventAttributes?: { readonly result: { readonly payloads: readonly { readonly data: string }[] } }
}

/** A recorded run. `shows` checks that the history contains the events for which it is kept. */
export interface Fixture {
  readonly workflow:
    | 'transfer'
    | 'lane'
    | 'settings'
    | 'operatorTransaction'
    | 'batch'
    | 'stream'
    | 'audit'
    | 'notifier'
    | 'reversal'
    | 'idempotencyKey'
  shows(history: RecordedHistory): boolean
}

export const fixtures = {
  'happy-near-finality': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && steps(history).join() === 'broadcast' && history.events.length <= 26,
  },
  'far-finality-with-confirm': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && passes(history, 'included') && has(history, 'TIMER_STARTED'),
  },
  'delivered-by-other': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && outcome(history)?.delivery?.ours === false && steps(history).length === 0,
  },
  'cancelled-with-noop': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'cancelled') && steps(history).includes('withdraw') && signals(history).includes('cancel'),
  },
  'cancelled-by-temporal': {
    workflow: 'transfer',
    shows: (history) => has(history, 'WORKFLOW_EXECUTION_CANCEL_REQUESTED') && ends(history, 'cancelled'),
  },
  'delivered-in-stages': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && outcome(history)?.rounds === 2 && has(history, 'TIMER_STARTED'),
  },
  'retried-after-crash': {
    workflow: 'transfer',
    shows: (history) =>
      ends(history, 'delivered') && history.events.some(({ activityTaskStartedEventAttributes: started }) => (started?.attempt ?? 1) > 1),
  },
  'broadcast-local': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && steps(history).join() === 'broadcastLocally' && history.events.length <= 26,
  },
  'broadcast-local-then-queue': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && steps(history).join() === 'broadcastLocally,broadcast',
  },
  declined: { workflow: 'transfer', shows: (history) => ends(history, 'declined') && steps(history).length === 0 },
  'waiting-and-retry': {
    workflow: 'transfer',
    shows: (history) => ends(history, 'delivered') && passes(history, 'waiting') && signals(history).includes('retry'),
  },
  'waiting-for-fees': {
    workflow: 'transfer',
    shows: (history) =>
      ends(history, 'delivered') &&
      passes(history, 'waiting') &&
      has(history, 'TIMER_STARTED') &&
      signals(history).length === 0 &&
      JSON.stringify(history).includes('"PortageCode"'),
  },
  'parked-by-deadline': {
    workflow: 'transfer',
    shows: (history) =>
      ends(history, 'delivered') && passes(history, 'parked') && steps(history).includes('withdraw') && signals(history).includes('retry'),
  },
  'nonce-left-to-its-lane': {
    workflow: 'transfer',
    shows: (history) =>
      ends(history, 'delivered') &&
      steps(history).filter((step) => step === 'broadcast').length >= 2 &&
      (outcome(history)?.timeline.some(({ note }) => note.includes('was left to its lane')) ?? false),
  },
  'lane-first-run': {
    workflow: 'lane',
    shows: (history) =>
      !continues(history) && has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') && has(history, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'),
  },
  'lane-continued-run': {
    workflow: 'lane',
    shows: (history) =>
      continues(history) && has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') && has(history, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'),
  },
  'lane-reset-run': {
    workflow: 'lane',
    shows: (history) => has(history, 'WORKFLOW_EXECUTION_UPDATE_ADMITTED') && signals(history).join() === 'pause,resume',
  },
  'operator-transaction-paid': {
    workflow: 'operatorTransaction',
    shows: (history) => ends(history, 'done') && steps(history).length > 1 && has(history, 'TIMER_FIRED'),
  },
  'operator-transaction-cancelled': {
    workflow: 'operatorTransaction',
    shows: (history) => ends(history, 'cancelled') && signals(history).includes('cancel') && steps(history).length > 1,
  },
  'operator-transaction-refused': {
    workflow: 'operatorTransaction',
    shows: (history) => ends(history, 'done') && steps(history).length === 3,
  },
  'batch-reported': {
    workflow: 'batch',
    shows: (history) => ends(history, 'done') && signals(history).includes('over') && steps(history).length === 0,
  },
  'batch-followed': {
    workflow: 'batch',
    shows: (history) => ends(history, 'done') && !signals(history).includes('over') && steps(history).join() === 'broadcastBatch',
  },
  'audit-of-delivered': {
    workflow: 'audit',
    shows: (history) => steps(history).join() === 'auditDelivered' && ((result(history) as AuditReport | undefined)?.intact ?? 0) > 0,
  },
  'settings-first-run': {
    workflow: 'settings',
    shows: (history) =>
      !continues(history) && has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') && has(history, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'),
  },
  'notifier-first-run': {
    workflow: 'notifier',
    shows: (history) =>
      has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') &&
      has(history, 'TIMER_STARTED') &&
      steps(history).includes('notify') &&
      signals(history).join() === 'order,order',
  },
  'idempotency-key-answered': {
    workflow: 'idempotencyKey',
    shows: (history) =>
      signals(history).join() === 'answered' && has(history, 'TIMER_STARTED') && has(history, 'WORKFLOW_EXECUTION_COMPLETED'),
  },
  'reversal-recorded': { workflow: 'reversal', shows: (history) => has(history, 'WORKFLOW_EXECUTION_COMPLETED') },
  'stream-first-run': {
    workflow: 'stream',
    shows: (history) =>
      !continues(history) &&
      has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') &&
      has(history, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED') &&
      signals(history).join() === 'pause,resume',
  },
  'stream-continued-run': {
    workflow: 'stream',
    shows: (history) =>
      continues(history) && has(history, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') && has(history, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'),
  },
} as const satisfies Record<string, Fixture>

export type FixtureName = keyof typeof fixtures

/** Each release that changed a workflow has a folder with its version as the name. */
const historiesFolder = fileURLToPath(new URL('../fixtures/histories/', import.meta.url))

export function recordedReleases(): string[] {
  return readdirSync(historiesFolder).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

export function recordedNames(release: string): FixtureName[] {
  return readdirSync(join(historiesFolder, release)).map((file) => basename(file, '.json') as FixtureName)
}

export function fixturePath(release: string, name: FixtureName): string {
  return join(historiesFolder, release, `${name}.json`)
}

export async function readFixture(release: string, name: FixtureName): Promise<RecordedHistory> {
  return JSON.parse(await readFile(fixturePath(release, name), 'utf8')) as RecordedHistory
}

function result({ events }: RecordedHistory): unknown {
  const data = events.at(-1)?.workflowExecutionCompletedEventAttributes?.result.payloads[0]?.data
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString())
}

function outcome(history: RecordedHistory): TransferStatus | undefined {
  return result(history) as TransferStatus | undefined
}

function ends(
  history: RecordedHistory,
  state: TransferStatus['state'] | OperatorTransactionStatus['state'] | BatchStatus['state'],
): boolean {
  return outcome(history)?.state === state
}

function passes(history: RecordedHistory, state: TransferStatus['state']): boolean {
  return outcome(history)?.timeline.some((entry) => entry.state === state) ?? false
}

function has({ events }: RecordedHistory, type: string): boolean {
  return events.some(({ eventType }) => eventType === `EVENT_TYPE_${type}`)
}

function steps({ events }: RecordedHistory): string[] {
  return events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType.name ?? [])
}

function signals({ events }: RecordedHistory): string[] {
  return events.flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? [])
}

function continues({ events }: RecordedHistory): boolean {
  return Boolean(events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId)
}
