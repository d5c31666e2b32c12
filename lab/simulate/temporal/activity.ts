import { asyncLocalStorage, Context, type Info } from '@temporalio/activity'
import { ApplicationFailure, CancelledFailure, defaultFailureConverter } from '@temporalio/common'
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { type Timer, world } from '../clock.ts'
import { type Command, type Job, payloads, type TextPayload } from './machine.ts'
import { type Host, pollMs, type Worker } from './host.ts'

type Scheduled = NonNullable<Command['scheduleActivity']>
export type LocalScheduled = NonNullable<Command['scheduleLocalActivity']>

/** Numbers of `TimeoutType` in temporal/api/enums/v1/workflow.proto. */
const timeoutTypes = { startToClose: 1, scheduleToStart: 2, heartbeat: 4 } as const

interface ActivityOwner {
  readonly workflowId: string
  readonly runId: string
  resolve(job: Job): void
}

interface ActivityTimes {
  readonly startToCloseMs: number | undefined
  readonly scheduleToStartMs: number | undefined
  readonly heartbeatMs: number | undefined
}

function timesOf(scheduled: Scheduled | LocalScheduled): ActivityTimes {
  const heartbeat = 'heartbeatTimeout' in scheduled ? scheduled.heartbeatTimeout : undefined
  return {
    startToCloseMs: optionalTsToMs(scheduled.startToCloseTimeout),
    scheduleToStartMs: optionalTsToMs(scheduled.scheduleToStartTimeout),
    heartbeatMs: optionalTsToMs(heartbeat),
  }
}

interface Execution {
  readonly worker: Worker
  readonly cancel: AbortController
  beatAt: number
  details: unknown
  readonly timers: Timer[]
}

/** A regular activity, with its queue, time-outs and retries. The server keeps the activity until it has a result. */
export class ActivityTask {
  readonly #server: Host
  readonly #owner: ActivityOwner
  readonly #scheduled: Scheduled
  readonly #times: ActivityTimes
  #attempt = 1
  #attemptAt = 0
  #details: unknown
  #inQueue: Timer | undefined
  #execution: Execution | undefined
  #isOver = false

  constructor(server: Host, owner: ActivityOwner, scheduled: Scheduled) {
    this.#server = server
    this.#owner = owner
    this.#scheduled = scheduled
    this.#times = timesOf(scheduled)
  }

  /**
   * @param eager the process that completed the workflow task, which takes the activity immediately if it polls the
   * queue
   */
  enqueue(eager?: Worker): void {
    const { clock } = world
    const { scheduleToStartMs } = this.#times
    this.#attemptAt = clock.wall
    const late = () => this.#fail(timeout('scheduleToStart'), false)
    this.#inQueue = scheduleToStartMs === undefined ? undefined : clock.after(scheduleToStartMs, late)
    clock.after(this.#server.travelMs(), () => this.#offer(eager))
  }

  /** Ends the activity without a result. Its worker notices at the next heartbeat. */
  abandon(): void {
    this.#isOver = true
    this.#clearTimers()
  }

  #offer(eager?: Worker): void {
    if (this.#isOver) return
    const worker = this.#server.pollerOf(this.#scheduled.taskQueue ?? '', 'activity', eager)
    if (worker) this.#start(worker)
    else world.clock.after(pollMs, () => this.#offer())
  }

  #start(worker: Worker): void {
    const { clock } = world
    const { startToCloseMs, heartbeatMs } = this.#times
    if (this.#inQueue) this.#inQueue.cancelled = true
    const execution: Execution = { worker, cancel: new AbortController(), beatAt: clock.now, details: undefined, timers: [] }
    this.#execution = execution
    const isPresent = () => !this.#isOver && this.#execution === execution
    const timers = execution.timers
    if (startToCloseMs !== undefined)
      timers.push(clock.after(startToCloseMs, () => isPresent() && this.#fail(timeout('startToClose'), true)))
    const watch = (ms: number) => {
      const left = execution.beatAt + ms - clock.now
      if (left <= 0) this.#fail(timeout('heartbeat'), true)
      else timers.push(clock.after(left, () => isPresent() && watch(ms)))
    }
    if (heartbeatMs !== undefined) watch(heartbeatMs)
    const beat = (details: unknown) => this.#beat(execution, details)
    const { activityType: type, activityId: id, arguments: args } = this.#scheduled
    const what = { type: type ?? '', id: id ?? '', args: (args ?? []) as TextPayload[], queue: this.#scheduled.taskQueue ?? '' }
    const tries = { attempt: this.#attempt, attemptAt: this.#attemptAt, details: this.#details }
    this.#server.log?.(`${worker.name} begins ${type} ${this.#owner.workflowId}, try ${this.#attempt}`)
    const running = runActivity(
      worker,
      { ...what, ...tries, times: this.#times, owner: this.#owner, isLocal: false },
      execution.cancel,
      beat,
    )
    const report = (act: () => void) =>
      clock.after(this.#server.travelMs(), () => {
        if (worker.alive && isPresent() && !this.#server.loses('report')) act()
      })
    running.then(
      (result) => report(() => this.#finish(result)),
      (error: unknown) => report(() => this.#failed(error, execution)),
    )
  }

  #finish(result: unknown): void {
    this.#server.log?.(`${this.#scheduled.activityType} ${this.#owner.workflowId} → ${JSON.stringify(result)}`)
    this.#end({ completed: { result: payloads.toPayload(result) } })
  }

  #beat(execution: Execution, details: unknown): void {
    world.clock.after(this.#server.travelMs(), () => {
      if (!execution.worker.alive || this.#server.isDown) return
      if (this.#isOver || this.#execution !== execution) return cancel(execution)
      execution.beatAt = world.clock.now
      this.#details = details
    })
  }

  #failed(error: unknown, execution: Execution): void {
    if (execution.cancel.signal.aborted) return
    const failure = defaultFailureConverter.errorToFailure(error, payloads)
    this.#fail(failure, !(error instanceof ApplicationFailure && error.nonRetryable))
  }

  #fail(failure: Failure, isRetryable: boolean): void {
    if (this.#isOver) return
    this.#server.log?.(`${this.#scheduled.activityType} ${this.#owner.workflowId} fails: ${failure.message}`)
    this.#clearTimers()
    this.#execution = undefined
    const { maximumAttempts = 0, initialInterval, maximumInterval, backoffCoefficient } = this.#scheduled.retryPolicy ?? {}
    const most = maximumAttempts || Infinity
    if (!isRetryable || this.#attempt >= most) return this.#end({ failed: { failure: activityFailure(this.#scheduled, failure) } })
    const first = optionalTsToMs(initialInterval) ?? 1_000
    const wait = Math.min(first * (backoffCoefficient || 2) ** (this.#attempt - 1), optionalTsToMs(maximumInterval) ?? 100 * first)
    this.#attempt += 1
    world.clock.after(wait, () => this.#isOver || this.enqueue())
  }

  #end(result: unknown): void {
    this.#isOver = true
    this.#clearTimers()
    this.#owner.resolve(resolved(this.#scheduled.seq, result))
  }

  #clearTimers(): void {
    for (const timer of this.#execution?.timers ?? []) timer.cancelled = true
    if (this.#inQueue) this.#inQueue.cancelled = true
  }
}

function cancel({ cancel: controller }: Execution): void {
  controller.abort(new CancelledFailure('NOT_FOUND'))
}

type Failure = ReturnType<typeof defaultFailureConverter.errorToFailure>

function timeout(type: keyof typeof timeoutTypes): Failure {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
  return { message: `${type} time-out`, timeoutFailureInfo: { timeoutType: timeoutTypes[type] } }
}

function activityFailure({ activityId, activityType }: { activityId?: unknown; activityType?: unknown }, cause: Failure): Failure {
  const activityFailureInfo = { activityId: String(activityId), activityType: { name: String(activityType) }, identity: '', retryState: 0 }
  return { message: 'Activity task failed', cause, activityFailureInfo }
}

function resolved(seq: unknown, result: unknown): Job {
  return { variant: 'resolveActivity', resolveActivity: { seq, result } } as unknown as Job
}

export function cancelledActivity(scheduled: { seq?: unknown; activityId?: unknown; activityType?: unknown }): Job {
  const failure = activityFailure(scheduled, { message: 'Activity cancelled', canceledFailureInfo: {} })
  return resolved(scheduled.seq, { cancelled: { failure } })
}

interface Running {
  readonly type: string
  readonly id: string
  readonly args: readonly TextPayload[]
  readonly queue: string
  readonly attempt: number
  /** Wall time. */
  readonly attemptAt: number
  readonly details: unknown
  readonly times: ActivityTimes
  readonly owner: ActivityOwner
  readonly isLocal: boolean
}

/** Runs the real step in a worker's process, with the SDK's own context. */
async function runActivity(
  worker: Worker,
  { type, id, args, queue, attempt, attemptAt, details, times, owner, isLocal }: Running,
  controller: AbortController,
  beat: (details: unknown) => void,
): Promise<unknown> {
  const step = worker.stepOf(queue, type)
  const { workflowId, runId } = owner
  const info = {
    ...{ activityId: id, activityType: type, attempt, isLocal, taskQueue: queue, workflowExecution: { workflowId, runId } },
    ...{ currentAttemptScheduledTimestampMs: attemptAt, scheduledTimestampMs: attemptAt, heartbeatDetails: details },
    ...{ heartbeatTimeoutMs: times.heartbeatMs, startToCloseTimeoutMs: times.startToCloseMs },
  } as unknown as Info
  const { signal } = controller
  const cancelled = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  )
  cancelled.catch(() => {})
  const context = new Context(info, cancelled, signal, beat, undefined, undefined as never, undefined as never, {})
  const input: unknown = args[0] && payloads.fromPayload(args[0])
  return asyncLocalStorage.run(context, () => step(input))
}

interface LocalWork {
  readonly scheduled: LocalScheduled
  readonly queue: string
  readonly owner: ActivityOwner
  readonly log: ((line: string) => void) | undefined
}

/** Tries a local activity once, in the process that has the workflow task. */
export function runLocal(worker: Worker, { scheduled, queue, owner, log }: LocalWork, resolve: (job: Job) => void): void {
  const { activityType, activityId, seq, arguments: args } = scheduled
  const times = timesOf(scheduled)
  let isOver = false
  const end = (result: unknown) => {
    if (isOver) return
    isOver = true
    limit.cancelled = true
    resolve(resolved(seq, result))
  }
  const failed = (failure: Failure) => end({ failed: { failure: activityFailure(scheduled, failure) } })
  const limit = world.clock.after(times.startToCloseMs ?? Infinity, () => failed(timeout('startToClose')))
  const what = { type: activityType ?? '', id: activityId ?? '', args: (args ?? []) as TextPayload[], queue }
  const tries = { attempt: 1, attemptAt: world.clock.wall, details: undefined, times, owner, isLocal: true }
  runActivity(worker, { ...what, ...tries }, new AbortController(), () => {}).then(
    (result) => {
      log?.(`${worker.name} ${activityType} ${owner.workflowId} → ${JSON.stringify(result)}`)
      end({ completed: { result: payloads.toPayload(result) } })
    },
    (error: unknown) => failed(defaultFailureConverter.errorToFailure(error, payloads)),
  )
}
