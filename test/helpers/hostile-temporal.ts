import type { Client } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import { msToTs } from '@temporalio/common/lib/time.js'
import { randomUUID } from 'node:crypto'
import { searchAttributes } from '../../temporal/contracts/names.ts'

type Poll = Awaited<ReturnType<Client['workflowService']['pollWorkflowTaskQueue']>>
type Commands = NonNullable<Parameters<Client['workflowService']['respondWorkflowTaskCompleted']>[0]['commands']>
type CommandType = NonNullable<Commands[number]['commandType']>
type HistoryEvent = NonNullable<NonNullable<Poll['history']>['events']>[number]

/** temporal.api.enums.v1.CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK */
const scheduleActivityTask: unknown = 1

/** temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION */
const completeWorkflow: unknown = 4

/** Makes a run with any type, input and result, as an attacker with access to Temporal can. Returns the run id. */
export async function forgeRun(
  client: Client,
  run: { readonly type: string; readonly id: string; readonly queue: string; readonly input: unknown; readonly result: unknown },
  attributes: Readonly<Partial<Record<keyof typeof searchAttributes, string>>> = {},
): Promise<string> {
  const { workflow, workflowService, options } = client
  const { namespace } = options
  const pairs = Object.entries(attributes) as [keyof typeof searchAttributes, string][]
  const { firstExecutionRunId } = await workflow.start(run.type, {
    ...{ workflowId: run.id, taskQueue: run.queue, args: [run.input] },
    typedSearchAttributes: pairs.map(([name, value]) => ({ key: searchAttributes[name], value })),
  })
  const poll = { namespace, taskQueue: { name: run.queue }, identity: 'a forger' }
  const ask = () => workflowService.pollWorkflowTaskQueue(poll)
  const { taskToken } = await client.withDeadline(Date.now() + 120_000, ask)
  const result = { payloads: [defaultPayloadConverter.toPayload(run.result)] }
  await workflowService.respondWorkflowTaskCompleted({
    ...{ namespace, taskToken, identity: 'a forger' },
    commands: [{ commandType: completeWorkflow as CommandType, completeWorkflowExecutionCommandAttributes: { result } }],
  })
  return firstExecutionRunId
}

export interface ActivityEnd {
  readonly result?: unknown
  readonly failure?: { readonly code: string | undefined; readonly message: string; readonly nonRetryable: boolean }
}

/** Runs any activity on any queue, as an attacker can: starts a workflow of an unknown type, and answers its tasks. */
export async function runActivity(client: Client, taskQueue: string, activity: string, input: unknown): Promise<ActivityEnd> {
  const { workflowService, options } = client
  const { namespace } = options
  const workflowId = `attack:${randomUUID()}`
  const queue = { name: taskQueue }
  const identity = 'attacker'
  await workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: randomUUID(),
    identity,
    workflowType: { name: 'attack' },
    taskQueue: queue,
  })
  const poll = async () => {
    for (;;) {
      const ask = () => workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: queue, identity })
      const task = await client.withDeadline(Date.now() + 70_000, ask)
      if (task.workflowExecution?.workflowId === workflowId) return task
    }
  }
  const { taskToken } = await poll()
  await workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    identity,
    commands: [
      {
        commandType: scheduleActivityTask as CommandType,
        scheduleActivityTaskCommandAttributes: {
          activityId: '1',
          activityType: { name: activity },
          taskQueue: queue,
          input: { payloads: [defaultPayloadConverter.toPayload(input)] },
          scheduleToCloseTimeout: msToTs(60_000),
          startToCloseTimeout: msToTs(60_000),
          heartbeatTimeout: msToTs(15_000),
          retryPolicy: { maximumAttempts: 1 },
        },
      },
    ],
  })
  const { history } = await poll()
  await workflowService.terminateWorkflowExecution({ namespace, workflowExecution: { workflowId }, identity })
  return endOf(history?.events ?? [])
}

function endOf(events: readonly HistoryEvent[]): ActivityEnd {
  for (const { activityTaskCompletedEventAttributes: completed, activityTaskFailedEventAttributes: failed } of events) {
    const [payload] = completed?.result?.payloads ?? []
    if (payload) return { result: defaultPayloadConverter.fromPayload(payload) }
    const failure = failed?.failure
    if (!failure) continue
    const { type, nonRetryable } = failure.applicationFailureInfo ?? {}
    return { failure: { code: type ?? undefined, message: failure.message ?? '', nonRetryable: nonRetryable === true } }
  }
  return { failure: { code: undefined, message: 'it timed out', nonRetryable: false } }
}
