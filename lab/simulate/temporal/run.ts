import { defaultFailureConverter, type Payload } from '@temporalio/common'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { requiredTsToMs } from '@temporalio/common/lib/time.js'
import { type Timer, world } from '../clock.ts'
import { ActivityTask, cancelledActivity, type LocalScheduled, runLocal } from './activity.ts'
import { type Activation, type Command, type Job, payloads, type RunInfo, type TextPayload, WorkflowMachine } from './machine.ts'
import { type Host, pollMs, type Worker } from './host.ts'

export type RunStatus = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CONTINUED_AS_NEW' | 'GONE'

/** An entry of the server's record of a run. A prefix of the record gives an earlier state of the run. */
type Recorded = { readonly kind: 'job'; readonly job: Job } | TaskRecord

interface TaskRecord {
  readonly kind: 'task'
  /** ms since the start of the simulation. */
  readonly at: number
  readonly jobs: number
  readonly activations: readonly Activation[]
  readonly commands: readonly Command[]
}

interface Task {
  readonly worker: Worker
  readonly jobs: number
  readonly activations: Activation[]
  readonly commands: Command[]
  readonly inbox: Job[]
  locals: number
}

export interface Answer {
  readonly promise: Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Time after which the server gives a workflow task to another process, ms. Temporal's default. */
const taskTimeoutMs = 10_000
const taskRetryMs = 1_000
/** Probability that the process drops the run from its cache before a workflow task. */
const uncached = 0.002
/**
 * Probability that the history is really replayed when the run moves to another process. Low, because a replay is slow.
 */
const replayed = 0.1

export class Run {
  readonly info: RunInfo
  status: RunStatus = 'RUNNING'
  result: string | undefined
  readonly recorded: Recorded[] = []
  readonly updates = new Map<string, Answer>()
  readonly #server: Host
  readonly #buffer: Job[] = []
  readonly #history: Activation[] = []
  readonly #timers = new Map<number, { readonly at: number; timer?: Timer }>()
  readonly #activities = new Map<number, ActivityTask>()
  /** Activities that the workflow cancelled, whose results no longer count. */
  readonly #cancelled = new Set<unknown>()
  #events = 3
  #machine: WorkflowMachine | undefined
  #host: Worker | undefined
  #task: Task | undefined
  #isScheduled = false

  constructor(server: Host, info: RunInfo) {
    this.#server = server
    this.info = info
  }

  get isOpen(): boolean {
    return this.status === 'RUNNING'
  }

  begin(recorded: readonly Recorded[] = []): void {
    for (const entry of recorded) this.#apply(entry)
    if (!this.isOpen) return
    for (const seq of this.#timers.keys()) this.#arm(seq)
    for (const activity of this.#activities.values()) activity.enqueue()
    this.#schedule()
  }

  add(job: Job): void {
    if (!this.isOpen) return
    this.#apply({ kind: 'job', job })
    this.#schedule()
  }

  update(updateId: string, name: string, arg: unknown): Promise<unknown> {
    const known = this.updates.get(updateId)
    if (known) return known.promise
    const input = [payloads.toPayload(arg)]
    const job = { id: updateId, protocolInstanceId: updateId, name, input, headers: {}, runValidator: true }
    this.add({ variant: 'doUpdate', doUpdate: job } as unknown as Job)
    return (this.updates.get(updateId) as Answer).promise
  }

  query(queryType: string): Promise<unknown> {
    // A query gets an event of its own, because only one activation may run at a time.
    if (!this.#server.pollerOf(this.info.taskQueue, 'workflow', this.#host)) return Promise.reject(this.#server.unavailable())
    return new Promise((resolve, reject) => {
      world.clock.after(0, () => this.queryNow(queryType).then(resolve, reject))
    })
  }

  get hasBegun(): boolean {
    return this.#history.length > 0
  }

  /** Call this only in an event of the clock, because only one activation may run at a time. */
  async queryNow(queryType: string): Promise<unknown> {
    if (!this.hasBegun) throw this.#server.unavailable()
    const machine = await this.#loaded()
    const job = { variant: 'queryWorkflow', queryWorkflow: { queryId: 'q', queryType, arguments: [], headers: {} } } as unknown as Job
    const commands = await machine.activate([job], this.#events)
    const answer = commands.find(({ respondToQuery }) => respondToQuery)?.respondToQuery
    if (!answer?.succeeded) throw this.#server.unavailable()
    return payloads.fromPayload(answer.succeeded.response as Payload)
  }

  close(status: RunStatus): void {
    this.status = status
    for (const { timer } of this.#timers.values()) if (timer) timer.cancelled = true
    for (const activity of this.#activities.values()) activity.abandon()
    for (const update of this.updates.values()) update.reject(this.#server.closing(this.info.workflowId))
    this.#task = undefined
    this.#machine = undefined
  }

  /** The worker died with the task. The server gives the task to another worker after the time-out. */
  onDeath(worker: Worker): void {
    if (this.#host === worker) this.#host = undefined
    const task = this.#task
    if (task?.worker === worker) world.clock.after(taskTimeoutMs, () => this.#loseTask(task))
  }

  #apply(entry: Recorded): void {
    this.recorded.push(entry)
    if (entry.kind === 'task') return this.#applyTask(entry)
    const { job } = entry
    this.#buffer.push(job)
    if (job.fireTimer) this.#timers.delete(Number(job.fireTimer.seq))
    if (job.resolveActivity) this.#activities.delete(Number(job.resolveActivity.seq))
    if (job.doUpdate) this.updates.set(String(job.doUpdate.id), answer())
  }

  #applyTask({ at, jobs, activations, commands }: TaskRecord): void {
    this.#buffer.splice(0, jobs)
    this.#history.push(...activations)
    this.#events += 3 + jobs + commands.length
    for (const command of commands) this.#applyCommand(command, at)
  }

  #applyCommand(command: Command, now: number): void {
    const { startTimer, cancelTimer, scheduleActivity, requestCancelActivity, updateResponse } = command
    if (startTimer) this.#timers.set(Number(startTimer.seq), { at: now + requiredTsToMs(startTimer.startToFireTimeout, 'timer') })
    if (scheduleActivity)
      this.#activities.set(Number(scheduleActivity.seq), new ActivityTask(this.#server, this.#owner(), scheduleActivity))
    const timer = this.#timers.get(Number(cancelTimer?.seq))?.timer
    if (timer) timer.cancelled = true
    if (cancelTimer) this.#timers.delete(Number(cancelTimer.seq))
    if (requestCancelActivity) {
      this.#cancelled.add(requestCancelActivity.seq)
      this.#activities.get(Number(requestCancelActivity.seq))?.abandon()
      this.#activities.delete(Number(requestCancelActivity.seq))
    }
    if (command.completeWorkflowExecution) this.status = 'COMPLETED'
    if (command.failWorkflowExecution) this.status = 'FAILED'
    if (command.continueAsNewWorkflowExecution) this.status = 'CONTINUED_AS_NEW'
    this.result ??= (command.completeWorkflowExecution?.result as TextPayload | undefined)?.json
    const { completed, rejected, protocolInstanceId } = updateResponse ?? {}
    const update = this.updates.get(protocolInstanceId ?? '')
    if (completed) update?.resolve(payloads.fromPayload(completed))
    if (rejected) {
      const cause = defaultFailureConverter.failureToError(rejected, payloads)
      update?.reject(new WorkflowUpdateFailedError('Workflow Update failed', cause))
    }
  }

  #owner() {
    const { workflowId, runId } = this.info
    return { workflowId, runId, resolve: (job: Job) => this.add(job) }
  }

  #arm(seq: number): void {
    const entry = this.#timers.get(seq)
    if (!entry) return
    const fire = { variant: 'fireTimer', fireTimer: { seq } } as unknown as Job
    entry.timer = world.clock.after(entry.at - world.clock.now, () => this.add(fire))
  }

  #schedule(): void {
    if (this.#isScheduled || this.#task || !this.isOpen || (this.#buffer.length === 0 && this.#history.length > 0)) return
    this.#isScheduled = true
    world.clock.after(this.#server.travelMs(), () => this.#offer())
  }

  async #offer(): Promise<void> {
    if (!this.isOpen) return
    const worker = this.#server.pollerOf(this.info.taskQueue, 'workflow', this.#host)
    if (!worker) return void world.clock.after(pollMs, () => this.#offer())
    this.#isScheduled = false
    if (world.chance.next() < (this.#host === worker ? uncached : replayed)) this.#machine = undefined
    this.#host = worker
    const task: Task = { worker, jobs: this.#buffer.length, activations: [], commands: [], inbox: this.#buffer.slice(), locals: 0 }
    this.#task = task
    await this.#step(task)
  }

  async #loaded(): Promise<WorkflowMachine> {
    if (this.#machine) return this.#machine
    const machine = new WorkflowMachine(this.info, this.#server.workflowOf(this.info.type), this.#server.localSteps)
    await machine.replay(this.#history)
    return (this.#machine = machine)
  }

  async #step(task: Task): Promise<void> {
    if (!task.worker.alive || this.#task !== task) return
    try {
      const machine = await this.#loaded()
      do {
        const jobs = task.inbox.splice(0).filter((job) => !this.#isLate(task, job))
        const commands = await machine.activate(jobs, this.#events)
        task.activations.push({ wall: world.clock.wall, jobs, events: this.#events, commands: commands.length })
        for (const command of commands) this.#take(task, command)
      } while (task.inbox.length > 0)
    } catch (error) {
      this.#server.taskFailed(this.info, error)
      return void world.clock.after(taskRetryMs, () => this.#loseTask(task))
    }
    if (task.locals === 0) world.clock.after(this.#server.travelMs(), () => this.#complete(task))
  }

  #isLate(task: Task, { resolveActivity }: Job): boolean {
    if (!resolveActivity || resolveActivity.result?.cancelled) return false
    const { seq } = resolveActivity
    return this.#cancelled.has(seq) || task.commands.some((one) => one.requestCancelActivity?.seq === seq)
  }

  #take(task: Task, command: Command): void {
    const { scheduleLocalActivity: local, requestCancelActivity: cancelled } = command
    if (local) return this.#runLocal(task, local)
    task.commands.push(command)
    const scheduled = cancelled && task.commands.find(({ scheduleActivity }) => scheduleActivity?.seq === cancelled.seq)?.scheduleActivity
    if (cancelled) task.inbox.push(cancelledActivity(scheduled ?? cancelled))
  }

  #runLocal(task: Task, scheduled: LocalScheduled): void {
    task.locals += 1
    runLocal(task.worker, { scheduled, queue: this.info.taskQueue, owner: this.#owner(), log: this.#server.log }, (job) => {
      task.locals -= 1
      task.inbox.push(job)
      world.clock.after(0, () => this.#step(task))
    })
  }

  #complete(task: Task): void {
    if (!task.worker.alive || this.#task !== task) return
    const ends = task.commands.some(
      (one) => one.completeWorkflowExecution ?? one.failWorkflowExecution ?? one.continueAsNewWorkflowExecution,
    )
    // The server refuses to close a run with unseen signals or results. `close` rejects unseen updates.
    if (ends && this.#buffer.slice(task.jobs).some(({ doUpdate }) => !doUpdate)) return this.#loseTask(task)
    this.#task = undefined
    const { activations, commands } = task
    this.#apply({ kind: 'task', at: world.clock.now, jobs: task.jobs, activations, commands })
    for (const command of commands) this.#start(command, task.worker)
    this.#schedule()
  }

  #start(command: Command, worker: Worker): void {
    const { startTimer, scheduleActivity, signalExternalWorkflowExecution: signal } = command
    if (startTimer) this.#arm(Number(startTimer.seq))
    if (scheduleActivity) {
      const eager = scheduleActivity.doNotEagerlyExecute || scheduleActivity.taskQueue !== this.info.taskQueue ? undefined : worker
      this.#activities.get(Number(scheduleActivity.seq))?.enqueue(eager)
    }
    if (signal) {
      const isKnown = this.#server.signal(String(signal.workflowExecution?.workflowId), String(signal.signalName), signal.args ?? [])
      const failure = isKnown ? undefined : { message: 'not found', applicationFailureInfo: { type: 'NotFound' } }
      const job = { variant: 'resolveSignalExternalWorkflow', resolveSignalExternalWorkflow: { seq: signal.seq, failure } }
      world.clock.after(this.#server.travelMs(), () => this.add(job as unknown as Job))
    }
    const { completeWorkflowExecution: done, failWorkflowExecution: failed, continueAsNewWorkflowExecution: next } = command
    if (done) {
      this.close('COMPLETED')
      this.#server.ended(this.info, this.result ?? 'null')
    }
    if (failed) {
      this.#server.taskFailed(this.info, failed.failure)
      this.close('FAILED')
    }
    if (next) {
      this.close('CONTINUED_AS_NEW')
      const args = ((next.arguments ?? []) as TextPayload[]).map(({ json }) => json)
      this.#server.begin({ ...this.info, args })
    }
  }

  #loseTask(task: Task): void {
    if (this.#task !== task) return
    this.#task = undefined
    this.#machine = undefined
    this.#schedule()
  }
}

function answer(): Answer {
  let resolve: Answer['resolve'] = () => {}
  let reject: Answer['reject'] = () => {}
  const promise = new Promise<unknown>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}
