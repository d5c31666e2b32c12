import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Metrics } from '../../../observability/metrics.ts'
import { endedSince, undeliveredSince } from '../../../temporal/client/streams/stream-transfers.ts'
import { type AgentLoopsOptions, createAgentLoops } from '../agent-loops.ts'
import { type AuditLimits, auditWithin, StreamClient } from '../stream-client.ts'
import type { Loop } from '../loop.ts'
import { reportStream } from '../stream-metrics.ts'
import { createOutcomeReporter } from '../transfer-outcomes.ts'
import { auditStream, type StreamAudit } from './audit.ts'
import { createBackfill, createBlockScanner } from './scan-blocks.ts'
import { createScannedBootstrap } from './bootstrap.ts'
import { createScannedContext, finalizedOf, type ScannedContext, type ScannedDeps, viewOf } from './context.ts'
import { firstSince } from '../first-block.ts'
import { createCompletionFollower, createCompletionVerifier } from './follow-completions.ts'
import { rereadBelow } from './fork.ts'
import { createGapFiller } from './fill-gaps.ts'
import { endedTransfers, ownTransfers } from './transfers.ts'

export interface ScannedAgentOptions extends ScannedDeps, Pick<AgentLoopsOptions, 'checkpoints'> {
  /** Interval of audits, ms. Each varies by up to a quarter, so that processes do not audit at the same time. */
  readonly auditMs: number
  readonly isHalted: () => boolean
}

export type ScannedAgent = ReturnType<typeof createScannedAgent>

const every = { headMs: 2_000, verifyMs: 1_000, backfillMs: 1_000, gapsMs: 1_000, outcomesMs: 4_000 } as const

export function createScannedAgent(options: ScannedAgentOptions) {
  const { source, sourceChain, lookBackMs, isHalted } = options
  const { config } = source
  const loops = createAgentLoops(options, () => bootstrap.begin(), checkpointKey)
  const { streamClient, keeper, alarms } = loops
  const context = createScannedContext(options, loops)
  const lookBack = () => firstSince(sourceChain, Date.now() - lookBackMs, finalizedOf(sourceChain))
  const bootstrap = createScannedBootstrap(context, keeper, config.start === undefined ? lookBack : undefined)

  /**
   * Reads blocks again if the chain lost the checkpoint's block while the stream began. Later forks show in block
   * hashes.
   */
  async function onBegun(): Promise<void> {
    const worthless = await bootstrap.denied()
    if (worthless) await rereadBelow(context, worthless.completedHeight ?? config.start ?? 0)
  }

  return {
    start: () => loops.start(loopsOf(context, options.auditMs, onBegun)),
    stop: () => loops.stop(),
    report(metrics: Metrics): void {
      const raised = [...alarms].filter((alarm) => alarm !== 'mismatch' || isHalted())
      const finalized = sourceChain.heads.current?.finalized
      reportStream(metrics, config.stream, streamClient.view, { finalized, alarms: raised, checkpointAt: keeper.writtenAt })
    },
  }
}

function loopsOf(context: ScannedContext, auditMs: number, onBegun: () => Promise<void>): readonly Loop[] {
  const { sourceChain, route, streamClient } = context
  // On a route, completions show the deliveries. Other sources learn of deliveries from ended transfers.
  const outcomes = route
    ? createOutcomeReporter(context, undeliveredSince, (listed) => ownTransfers(context, listed))
    : createOutcomeReporter(context, endedSince, (listed) => endedTransfers(context, listed))
  async function reportOutcomes(): Promise<boolean> {
    if ((await viewOf(context)).open === 0) return false
    const { era } = streamClient
    const state = await streamClient.state()
    if (state) await outcomes.report(state, era)
    return false
  }
  const loop = (name: string, ms: number, step: Loop['step'], wake?: Loop['wake']): Loop => ({ name, step, everyMs: () => ms, wake })
  return [
    loop('scan', every.headMs, createBlockScanner(context, onBegun), (listener) =>
      sourceChain.heads.subscribe(({ finalized }) => {
        context.finality.see(finalized)
        listener()
      }),
    ),
    ...(route
      ? [
          loop('completions', every.headMs, createCompletionFollower(context, route), (listener) => route.target.heads.subscribe(listener)),
          loop('early completions', every.verifyMs, createCompletionVerifier(context)),
        ]
      : []),
    loop('backfill', every.backfillMs, createBackfill(context)),
    loop('gaps', every.gapsMs, createGapFiller(context)),
    loop('outcomes', every.outcomesMs, reportOutcomes),
    { name: 'audit', step: () => auditStream(context).then(() => false), everyMs: () => auditMs * (0.75 + Math.random() / 2) },
  ]
}

function checkpointKey({ nextHeight, completedNumber, completedHeight, counts, gaps }: StreamView): string | undefined {
  return nextHeight === undefined ? undefined : JSON.stringify([nextHeight, completedNumber, completedHeight, counts, gaps.undone])
}

/** Audits a stream once, and fills its gaps. Throws STREAM_NOT_FOUND, STREAM_AUDIT_UNENDED and the errors of audits. */
export function auditOnce(deps: ScannedDeps, limits: AuditLimits = {}): Promise<StreamAudit> {
  const { client, logger, source } = deps
  const { config } = source
  const streamClient = new StreamClient({ client, config, logger })
  return auditWithin(streamClient, config.stream, limits, async (stopping) => {
    if (!(await streamClient.state())) throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream: config.stream } })
    const context = createScannedContext(deps, { streamClient, alarms: new Set(), stopping })
    const audit = await auditStream(context)
    const fill = createGapFiller(context)
    while (!stopping.aborted && (await fill()));
    return audit
  })
}
