import { ServiceError } from '@temporalio/client'
import { type Payload, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common'
import { world } from '../clock.ts'
import { type Job, payloads, type RunInfo, type WorkflowFunction } from './machine.ts'
import type { Host, Losable, Worker } from './host.ts'
import { Run } from './run.ts'

export interface StartOptions {
  readonly workflowId: string
  readonly taskQueue: string
  readonly args: readonly unknown[]
  readonly memo?: Readonly<Record<string, unknown>>
  readonly workflowIdReusePolicy?: 'ALLOW_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' | 'REJECT_DUPLICATE'
  readonly workflowIdConflictPolicy?: 'FAIL' | 'USE_EXISTING'
}

interface Snapshot {
  readonly run: Run
  readonly recorded: number
}

export interface ServerOptions {
  readonly workflows: Readonly<Record<string, WorkflowFunction>>
  readonly localSteps: Set<string>
  readonly log?: ((line: string) => void) | undefined
  readonly losses: Readonly<Record<Losable, number>>
}

/** gRPC's UNAVAILABLE and DEADLINE_EXCEEDED. */
const codes = { unavailable: 14, late: 4 } as const

/** The part of Temporal that Portage uses: runs, tasks, queues, time-outs, retries, updates, queries, signals. */
export class Server implements Host {
  isDown = false
  readonly failures: string[] = []
  readonly workers: Worker[] = []
  readonly localSteps: Set<string>
  readonly log: ((line: string) => void) | undefined
  onEnd: (info: RunInfo, result: string) => void = () => {}
  readonly #options: ServerOptions
  readonly #latest = new Map<string, Run>()
  #all: Run[] = []
  #snapshot: readonly Snapshot[] | undefined
  #isCalm = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.localSteps = options.localSteps
    this.log = options.log
  }

  get runs(): ReadonlyMap<string, Run> {
    return this.#latest
  }

  travelMs(): number {
    return 1 + world.chance.next() * 4
  }

  loses(what: Losable): boolean {
    return !this.#isCalm && world.chance.next() < this.#options.losses[what]
  }

  calm(): void {
    this.#isCalm = true
    this.isDown = false
  }

  workflowOf(type: string): WorkflowFunction {
    const workflow = this.#options.workflows[type]
    if (!workflow) throw new Error(`no workflow ${type}`)
    return workflow
  }

  pollerOf(queue: string, kind: 'workflow' | 'activity', preferred?: Worker): Worker | undefined {
    if (this.isDown) return undefined
    const polls = (worker: Worker) => worker.alive && worker.polls(queue, kind)
    if (preferred && polls(preferred) && world.chance.next() < 0.95) return preferred
    const all = this.workers.filter(polls)
    return all.length > 0 ? world.chance.pick(all) : undefined
  }

  /** Starts a run. If the id is taken, throws or, for USE_EXISTING, returns the open run, like the real server. */
  start(type: string, options: StartOptions): Run {
    const { workflowId, taskQueue, args, memo = {}, workflowIdReusePolicy: reuse, workflowIdConflictPolicy: conflict } = options
    const known = this.#latest.get(workflowId)
    const taken = new WorkflowExecutionAlreadyStartedError('Workflow execution already started', workflowId, type)
    if (known?.isOpen) {
      if (conflict === 'USE_EXISTING') return known
      throw taken
    }
    if (known && (reuse === 'REJECT_DUPLICATE' || (reuse === 'ALLOW_DUPLICATE_FAILED_ONLY' && known.status === 'COMPLETED'))) throw taken
    const texts = args.map((arg) => JSON.stringify(arg))
    return this.begin({ workflowId, runId: '', type, taskQueue, startedAt: 0, args: texts, memo })
  }

  begin(info: RunInfo): Run {
    const run = new Run(this, { ...info, runId: `run-${this.#all.length + 1}`, startedAt: world.clock.wall })
    this.#latest.set(info.workflowId, run)
    this.#all.push(run)
    run.begin()
    return run
  }

  open(workflowId: string): Run {
    const run = this.#latest.get(workflowId)
    if (run?.isOpen) return run
    throw new WorkflowNotFoundError('workflow not found', workflowId, undefined)
  }

  signal(workflowId: string, signalName: string, input: readonly Payload[]): boolean {
    const run = this.#latest.get(workflowId)
    if (!run?.isOpen) return false
    run.add({ variant: 'signalWorkflow', signalWorkflow: { signalName, input, identity: '', headers: {} } } as unknown as Job)
    return true
  }

  signalWith(workflowId: string, signalName: string, args: readonly unknown[]): void {
    const isKnown = this.signal(
      workflowId,
      signalName,
      args.map((arg) => payloads.toPayload(arg)),
    )
    if (!isKnown) throw new WorkflowNotFoundError('workflow not found', workflowId, undefined)
  }

  /** Reads the next nonce from the ledger for the judge. 0 without a ledger. */
  async nextNonce(workflowId: string): Promise<number> {
    const run = this.#latest.get(workflowId)
    return run?.isOpen && run.hasBegun ? ((await run.queryNow('status')) as { next: number }).next : 0
  }

  wipe(): void {
    for (const run of this.#latest.values()) if (run.isOpen) run.close('GONE')
    this.#latest.clear()
    this.#all = []
  }

  backUp(): void {
    this.#snapshot = this.#all.map((run) => ({ run, recorded: run.recorded.length }))
  }

  /** Sets all runs back to the backup. Time does not go back, so timers that are due fire immediately. */
  restore(): void {
    const snapshot = this.#snapshot ?? []
    this.wipe()
    for (const { run, recorded } of snapshot) {
      const again = new Run(this, run.info)
      this.#latest.set(run.info.workflowId, again)
      this.#all.push(again)
      again.begin(run.recorded.slice(0, recorded))
    }
  }

  onDeath(worker: Worker): void {
    for (const run of this.#latest.values()) if (run.isOpen) run.onDeath(worker)
  }

  ended(info: RunInfo, result: string): void {
    this.onEnd(info, result)
  }

  taskFailed({ workflowId, type }: RunInfo, error: unknown): void {
    this.failures.push(`${type} ${workflowId}: ${error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)}`)
  }

  unavailable(): ServiceError {
    return serviceError('unavailable')
  }

  late(): ServiceError {
    return serviceError('late')
  }

  closing(workflowId: string): Error {
    return world.chance.next() < 0.5
      ? this.unavailable()
      : new WorkflowNotFoundError('workflow execution already completed', workflowId, undefined)
  }
}

function serviceError(why: keyof typeof codes): ServiceError {
  const cause = Object.assign(new Error(why), { code: codes[why], details: why, metadata: {} })
  return new ServiceError(why, { cause })
}
