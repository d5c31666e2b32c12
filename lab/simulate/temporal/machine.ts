import { ApplicationFailure, type Payload, type PayloadConverter } from '@temporalio/common'
import type { coresdk } from '@temporalio/proto'
import { Activator } from '@temporalio/workflow/lib/internals.js'
import { setActivator } from '@temporalio/workflow/lib/global-attributes.js'
import { activate, concludeActivation, initialize, tryUnblockConditions } from '@temporalio/workflow/lib/worker-interface.js'
import { microtasks, world } from '../clock.ts'

/** A payload with JSON text, because bytes would cost most of the simulation's time. */
export interface TextPayload extends Payload {
  readonly json: string
}

export const payloads = {
  toPayload: (value: unknown) => ({ json: JSON.stringify(value) ?? 'null' }) as unknown as Payload,
  fromPayload: (payload: Payload): unknown => JSON.parse((payload as TextPayload).json),
} as PayloadConverter

type Options = ConstructorParameters<typeof Activator>[0]
export type Job = coresdk.workflow_activation.IWorkflowActivationJob & { readonly variant?: string }
export type Command = coresdk.workflow_commands.IWorkflowCommand

/** Jobs that a workflow received together, with the wall time. A replay repeats the same jobs. */
export interface Activation {
  readonly wall: number
  readonly jobs: readonly Job[]
  readonly events: number
  readonly commands: number
}

export interface RunInfo {
  readonly workflowId: string
  readonly runId: string
  readonly type: string
  readonly taskQueue: string
  /** Wall time. */
  readonly startedAt: number
  readonly args: readonly string[]
  readonly memo: Readonly<Record<string, unknown>>
}

export type WorkflowFunction = (...args: never[]) => Promise<unknown>

/** Events after which Temporal suggests to continue as new (`limit.historyCount.suggestContinueAsNew`). */
const eventsOfLongHistory = 4_096

const noNumbers: Options['randomnessSeed'] = [1, 2, 3, 4]

/** A run in the memory of a worker: the real workflow on Temporal's own library, without the library's VM. */
export class WorkflowMachine {
  readonly #activator: Activator
  readonly #start: Job
  #isNew = true

  constructor(info: RunInfo, workflow: WorkflowFunction, activities: Set<string>) {
    const { workflowId, runId, type: workflowType, taskQueue, startedAt, args, memo } = info
    const start = new Date(startedAt)
    const ids = { workflowId, runId, workflowType, namespace: 'simulation', taskQueue, attempt: 1 }
    const first = { firstExecutionRunId: runId, originalExecutionRunId: runId, startTime: start, runStartTime: start }
    const unsafe = { isReplaying: false, isReplayingHistoryEvents: false, now: () => world.clock.wall, random: world.chance }
    this.#activator = new Activator({
      info: {
        ...ids,
        ...first,
        ...{ memo, searchAttributes: {}, historyLength: 3, historySize: 0, continueAsNewSuggested: false, unsafe },
      } as unknown as Options['info'],
      now: startedAt,
      ...{ showStackTraceSources: false, sourceMap: { version: 3, sources: [], names: [], mappings: '' } as never },
      getTimeOfDay: () => BigInt(world.clock.wall) * 1_000_000n,
      ...{ randomnessSeed: noNumbers, registeredActivityNames: activities, stackTracesEnabled: false },
    })
    this.#activator.payloadConverter = payloads
    this.#activator.workflow = workflow as Activator['workflow']
    const fields = Object.fromEntries(Object.entries(memo).map(([name, value]) => [name, payloads.toPayload(value)]))
    const given = args.map((json) => ({ json }) as unknown as Payload)
    this.#start = {
      variant: 'initializeWorkflow',
      initializeWorkflow: { workflowId, workflowType, arguments: given, memo: { fields } },
    }
  }

  /**
   * Applies the jobs and returns the workflow's commands. Throws errors of the workflow that are not Temporal failures;
   * a real worker then fails the workflow task and tries again.
   */
  async activate(jobs: readonly Job[], events: number): Promise<Command[]> {
    const activator = this.#activator
    setActivator(activator)
    try {
      activator.now = world.clock.wall
      activator.mutateWorkflowInfo((info) => ({
        ...info,
        historyLength: events,
        continueAsNewSuggested: events >= eventsOfLongHistory,
      }))
      const given = jobs.toSorted((a, b) => rank(a) - rank(b))
      if (this.#isNew) {
        this.#isNew = false
        initialize(this.#start.initializeWorkflow as Parameters<typeof initialize>[0])
        given.unshift(this.#start)
      }
      activate({ jobs: given })
      do await microtasks()
      while (tryUnblockConditions() > 0)
      const { successful } = concludeActivation()
      activator.getAndResetSinkCalls()
      return successful?.commands ?? []
    } finally {
      setActivator(undefined)
    }
  }

  /** Throws if the number of the workflow's commands differs from the recorded number. */
  async replay(history: readonly Activation[]): Promise<void> {
    for (const { wall, jobs, events, commands } of history) {
      world.clock.replayed = wall
      try {
        const again = await this.activate(jobs, events)
        if (again.length !== commands)
          throw ApplicationFailure.nonRetryable(`replay: ${again.length} commands instead of ${commands}`, 'NondeterminismError')
      } finally {
        world.clock.replayed = undefined
      }
    }
  }
}

/** Rank of a job in its activation, as in Temporal's Core: signals and updates, results and timers, then queries. */
function rank({ variant }: Job): number {
  if (variant === 'signalWorkflow') return 0
  if (variant === 'doUpdate') return 1
  return variant === 'queryWorkflow' ? 3 : 2
}
