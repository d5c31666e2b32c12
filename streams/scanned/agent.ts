import { RelayerError } from '../../domain/errors.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { createCheckpointKeeper } from '../checkpoint-keeper.ts'
import type { CheckpointStore } from '../checkpoints.ts'
import { createConfigReporter } from '../config-changes.ts'
import { loopsEnded, runLoop } from '../loop.ts'
import type { LoopOptions } from '../loop.ts'
import { type AgentAlarm, reportStream } from '../report.ts'
import { StreamClient } from '../stream-client.ts'
import type { StreamAudit } from './audit-transfers.ts'
import { auditStream } from './audit.ts'
import { createBackfill } from './backfill.ts'
import { createScannedBootstrap } from './bootstrap.ts'
import { createOutcomes } from './outcomes.ts'
import { createCompletionFollower } from './follow-completions.ts'
import { rereadBelow } from './fork.ts'
import { createGapFiller } from './gap-filler.ts'
import { createBlockScanner } from './scan-blocks.ts'
import { createVerifyCompletions } from './verify-completions.ts'
import { createScannedContext } from './context.ts'
import type { ScannedDeps } from './context.ts'

export interface ScannedAgentOptions extends Omit<ScannedDeps, 'streamClient'> {
  /** How often the stream is audited, ms; some earlier, some later, so that many processes do not at once. */
  readonly auditMs: number
  /** Absent: no checkpoint is kept. */
  readonly checkpoints: CheckpointStore | undefined
  /** Whether the route is halted by now: that is how people see that a mismatch is still there. */
  readonly isHalted: () => boolean
}

/** What feeds one stream in this process. Any number of processes may: each tells what it found, and the stream takes it once. */
export interface ScannedAgent {
  start(): void
  /** Ends every loop; what was not told is found again from the chains. */
  stop(): Promise<void>
  report(metrics: Metrics): void
}

/** Pauses without anything that wakes, ms. */
const every = {
  headMs: 2_000,
  verifyMs: 1_000,
  backfillMs: 1_000,
  gapsMs: 1_000,
  endsMs: 4_000,
  checkpointMs: 5_000,
  configMs: 5_000,
} as const

export function createScannedAgent(options: ScannedAgentOptions): ScannedAgent {
  const { source, sourceChain, targetChain, client, logger, auditMs, checkpoints: store, isHalted } = options
  const { config } = source
  const stopping = new AbortController()
  const alarms = new Set<AgentAlarm>()
  const keeper = createCheckpointKeeper({ config, store, alarms, logger })
  const beginning = createScannedBootstrap({ source, sourceChain, keeper, logger })
  const streamClient = new StreamClient({ client, config, logger, begin: beginning.begin })
  const context = { ...createScannedContext({ ...options, streamClient }, stopping.signal), alarms }
  let loops: readonly Promise<void>[] = []

  /** A checkpoint may have become worthless while the first range was read; from here on hashes bind it. */
  async function onBegun(): Promise<void> {
    const worthless = await beginning.denied()
    if (worthless) await rereadBelow(context, worthless.completedHeight ?? config.start ?? 0)
  }

  const run = (name: string, look: LoopOptions['look'], everyMs: () => number, wake?: LoopOptions['wake']) =>
    runLoop({ name, stream: config.stream, look, everyMs, stopping: stopping.signal, logger, ...(wake && { wake }) })

  return {
    start() {
      loops = [
        run(
          'scan',
          createBlockScanner(context, onBegun),
          () => every.headMs,
          (listener) => sourceChain.heads.subscribe(listener),
        ),
        run(
          'completions',
          createCompletionFollower(context),
          () => every.headMs,
          (listener) => targetChain.heads.subscribe(listener),
        ),
        run('early completions', createVerifyCompletions(context), () => every.verifyMs),
        run('backfill', createBackfill(context), () => every.backfillMs),
        run('gaps', createGapFiller(context), () => every.gapsMs),
        run('ends', createOutcomes(context), () => every.endsMs),
        run('config', createConfigReporter({ wanted: source, streamClient, logger }), () => every.configMs),
        run(
          'audit',
          () => auditStream(context).then(() => false),
          () => auditMs * (0.75 + Math.random() / 2),
        ),
        run(
          'checkpoint',
          () => keeper.keep(streamClient, newsOf(streamClient.view)).then(() => false),
          () => every.checkpointMs,
        ),
      ]
    },
    async stop() {
      stopping.abort()
      streamClient.close()
      await loopsEnded(loops)
    },
    report(metrics) {
      const raised = [...alarms].filter((alarm) => alarm !== 'mismatch' || isHalted())
      const finalized = sourceChain.heads.current?.finalized
      reportStream(metrics, config.stream, streamClient.view, { finalized, alarms: raised, checkpointAt: keeper.writtenAt })
    },
  }
}

/** What its checkpoint would say; undefined: no block was scanned yet. */
function newsOf({ nextHeight, completedNumber, completedHeight, counts, gaps }: Partial<StreamView> = {}): string | undefined {
  return nextHeight === undefined ? undefined : JSON.stringify([nextHeight, completedNumber, completedHeight, counts, gaps?.undone])
}

/** One audit now, for a person, with what the source's table has of the gaps started. Throws STREAM_NOT_FOUND, and what an audit throws. */
export async function auditOnce(deps: Omit<ScannedDeps, 'streamClient'>): Promise<StreamAudit> {
  const { client, logger, source } = deps
  const { config } = source
  const streamClient = new StreamClient({ client, config, logger })
  try {
    if (!(await streamClient.state())) throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream: config.stream } })
    const context = createScannedContext({ ...deps, streamClient }, new AbortController().signal)
    const audit = await auditStream(context)
    const fill = createGapFiller(context)
    while (await fill());
    return audit
  } finally {
    streamClient.close()
  }
}
