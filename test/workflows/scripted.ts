import { Client, type WorkflowClientInterceptor, type WorkflowHandle } from '@temporalio/client'
import { type Headers, WorkflowNotFoundError } from '@temporalio/common'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { silentLogger } from '../../observability/logger.ts'
import { type TransferInput, type TransferStatus, retrySignal } from '../../temporal/contracts/transfer.ts'
import { startedAtMemo } from '../../temporal/client/transfers/transfer-list.ts'
import { chainQueue, laneQueue } from '../../temporal/contracts/names.ts'
import type {
  Admission,
  AdmitInput,
  BroadcastInput,
  BroadcastResult,
  ConfirmEndInput,
  ConfirmInput,
  Confirmation,
  EndConfirmation,
  KeylessSteps,
  Landed,
  LaneStatusAnswer,
  WithdrawInput,
  Withdrawal,
} from '../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import type { TracedRun } from '../../workflows/trace-headers.ts'
import { type Temporal } from '../../workers/process/temporal.ts'
import { connectTestTemporal } from '../helpers/temporal.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import { unused } from '../helpers/unused.ts'

export const lanes = ['evm-1:0xa', 'evm-1:0xb'] as const
export const transfer: Transfer = {
  bridge: 'wormhole-token-bridge',
  sourceChain: 'ethereum',
  sourceId: 'ethereum',
  targetChain: 'bsc',
  emitter: '00'.repeat(32),
  sequence: '1',
  digest: `0x${'00'.repeat(32)}`,
  message: 'b3du',
}
export const landed: Landed = { nonce: 7, txHash: '0x07', blockHeight: 9, blockHash: '0x09', gasPaid: '1', attempts: 1, tried: [] }
export const waiting = { timeoutMs: 60_000, everyMs: 20 }

export interface Script {
  admit(input: AdmitInput): Admission | Promise<Admission>
  broadcastLocally(input: BroadcastInput): BroadcastResult | { kind: 'elsewhere' } | Promise<{ kind: 'elsewhere' }>
  broadcast(input: BroadcastInput): BroadcastResult | Promise<BroadcastResult>
  confirm(input: ConfirmInput): Confirmation
  confirmEnd(input: ConfirmEndInput): EndConfirmation
  getLaneStatus(): LaneStatusAnswer
  withdraw(input: WithdrawInput): Withdrawal | Promise<Withdrawal>
  /** Runs after a failure of `admit`. */
  readonly prepare: KeylessSteps['prepare']
}

export const ready = (input: AdmitInput): Admission => {
  const lane = lanes.find((one) => !input.avoid?.includes(one))
  if (!lane) return { kind: 'waiting', code: 'LANE_NONE', reason: 'no other lane', retryInMs: 60_000 }
  return { kind: 'ready', lane, callHash: '0x', gasLimit: '1', maxFee: '1', tip: '1' }
}
export const sound: Script = {
  admit: ready,
  broadcastLocally: () => ({ kind: 'elsewhere' }),
  broadcast: () => ({ kind: 'delivered', landed }),
  confirm: () => ({ kind: 'gone' }),
  confirmEnd: () => ({ kind: 'free' }),
  getLaneStatus: () => ({ lane: { lane: lanes[0], open: true }, others: 1, abandonAfterMs: 0 }),
  withdraw: () => ({ kind: 'free' }),
  prepare: unused('prepare'),
}

/** Transfers whose steps answer by a script. */
export interface Scripted {
  /** The answers of the steps. Each test begins with a copy of `sound`. */
  script: Script
  readonly asked: {
    admit: AdmitInput[]
    broadcastLocally: BroadcastInput[]
    broadcast: BroadcastInput[]
    confirm: ConfirmInput[]
    confirmEnd: ConfirmEndInput[]
    withdraw: WithdrawInput[]
    expedite: { lane: string; intentId: string }[]
  }
  /** The headers of every step in order, and the ended runs that the workflows reported for spans. */
  readonly traced: { readonly headers: Headers[]; readonly runs: TracedRun[] }
  logged(handle: WorkflowHandle): Record<string, unknown>[]
  /**
   * `headers`: headers of the start. `workflowTaskTimeout`: with 1 s instead of the server's 10 s, a local step
   * outlasts its workflow task.
   */
  start(options?: Omit<TransferInput, 'transfer'>, headers?: Headers, workflowTaskTimeout?: '1s'): Promise<WorkflowHandle>
  /**
   * Starts a transfer whose deadline passes after `asked` returns true for its steps, and before its first wait of ten
   * seconds is over. If the deadline passes too early, starts another transfer with twice the time.
   */
  startWithDeadline(asked: (steps: Scripted['asked']) => boolean): Promise<{ handle: WorkflowHandle; deadline: number }>
  /** Sends the signal `retry`. Does nothing if the transfer has ended. */
  retry(handle: WorkflowHandle): Promise<void>
  status(handle: WorkflowHandle): Promise<TransferStatus>
  reaches(handle: WorkflowHandle, look: (status: TransferStatus) => boolean, what: string): Promise<unknown>
  readonly server: TemporalServer
  readonly temporal: Temporal
  /** Counts the transfer's runs that have continued as new. */
  runs(handle: WorkflowHandle): Promise<number>
  /** Ends the transfer's waits one after another, until a second run continues. */
  nextRun(handle: WorkflowHandle): Promise<void>
}

/** Starts a real server and workers with the real workflow. `tracing`: whether the process sends traces. */
export function scriptedTransfers(tracing = false): Scripted {
  let server: TemporalServer
  let temporal: Temporal
  const workers: Worker[] = []
  let running: Promise<void>[] = []
  let count = 0
  const nothing = (): Scripted['asked'] => ({
    admit: [],
    broadcastLocally: [],
    broadcast: [],
    confirm: [],
    confirmEnd: [],
    withdraw: [],
    expedite: [],
  })
  let asked = nothing()
  let traced: Scripted['traced'] = { headers: [], runs: [] }
  const { logger, lines } = recordingLogger()

  beforeAll(async () => {
    // Temporal suggests a new run after a few waits, and not after thousands of events.
    ;({ server, temporal } = await connectTestTemporal({ dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': '30' } }, logger))
    const { connection } = temporal
    const activities = {
      admit: async (input: AdmitInput) => (asked.admit.push(input), on.script.admit(input)),
      validate: async () => ({ kind: 'passed' }),
      checkDelivered: async () => ({ kind: 'passed' }),
      prepare: async (input: AdmitInput) => on.script.prepare(input),
      broadcastLocally: async (input: BroadcastInput) => (asked.broadcastLocally.push(input), on.script.broadcastLocally(input)),
      broadcast: async (input: BroadcastInput) => (asked.broadcast.push(input), on.script.broadcast(input)),
      confirm: async (input: ConfirmInput) => (asked.confirm.push(input), on.script.confirm(input)),
      confirmEnd: async (input: ConfirmEndInput) => (asked.confirmEnd.push(input), on.script.confirmEnd(input)),
      getLaneStatus: async () => on.script.getLaneStatus(),
      withdraw: async (input: WithdrawInput) => (asked.withdraw.push(input), on.script.withdraw(input)),
      expedite: async (input: Scripted['asked']['expedite'][number]) => void asked.expedite.push(input),
    }
    const queues = [chainQueue('bsc'), ...lanes.map(laneQueue)]
    for (const taskQueue of queues) {
      workers.push(
        await Worker.create({
          ...{ connection, taskQueue, activities },
          workflowBundle: await workflowBundle(silentLogger(), tracing),
          interceptors: {
            activity: [() => ({ inbound: { execute: (input, next) => (traced.headers.push(input.headers), next(input)) } })],
          },
          sinks: { traces: { ended: { fn: (_: unknown, run: TracedRun) => void traced.runs.push(run), callDuringReplay: false } } },
        }),
      )
    }
    running = workers.map((worker) => worker.run())
  })

  afterAll(async () => {
    for (const worker of workers) worker.shutdown()
    await Promise.all(running)
  })

  beforeEach(() => {
    on.script = { ...sound }
    asked = nothing()
    traced = { headers: [], runs: [] }
  })

  const on: Scripted = {
    script: { ...sound },
    get asked() {
      return asked
    },
    get traced() {
      return traced
    },
    logged: ({ workflowId }) => lines.filter((line) => line['transfer'] === workflowId),
    get server() {
      return server
    },
    get temporal() {
      return temporal
    },
    start(options = {}, headers, workflowTaskTimeout) {
      const given = {
        startWithDetails: (input, next) => next({ ...input, headers: { ...input.headers, ...headers } }),
      } satisfies WorkflowClientInterceptor
      return new Client({ connection: temporal.connection, interceptors: { workflow: [given] } }).workflow.start('transfer', {
        workflowId: `transfer-${++count}`,
        taskQueue: chainQueue('bsc'),
        args: [{ transfer, ...options } satisfies TransferInput],
        ...(workflowTaskTimeout && { workflowTaskTimeout }),
        memo: { [startedAtMemo]: new Date().toISOString() },
      })
    },
    async startWithDeadline(isAsked) {
      for (let withinMs = 4_000; ; withinMs *= 2) {
        asked = nothing()
        const deadline = Date.now() + withinMs
        const handle = await on.start({ deadline })
        const over = async () => isAsked(asked) || (await on.status(handle)).state === 'parked'
        await until(over, { ...waiting, what: 'the step, or the deadline' })
        if (isAsked(asked)) return { handle, deadline }
        await handle.terminate()
      }
    },
    async retry(handle) {
      await handle.signal(retrySignal).catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error
      })
    },
    status: (handle) => handle.query<TransferStatus>('status'),
    reaches: (handle, look, what) => until(async () => look(await on.status(handle)), { ...waiting, what }),
    async runs(handle) {
      const query = `WorkflowId = '${handle.workflowId}' AND ExecutionStatus = 'ContinuedAsNew'`
      return (await temporal.client.workflow.count(query)).count
    },
    async nextRun(handle) {
      const { execution } = (await handle.describe()).raw.workflowExecutionInfo ?? {}
      const renewed = async () => {
        await handle.signal(retrySignal)
        const now = (await handle.describe()).raw.workflowExecutionInfo?.execution
        return now?.runId !== execution?.runId
      }
      await until(renewed, { ...waiting, everyMs: 100, what: 'a new run' })
    },
  }
  return on
}
