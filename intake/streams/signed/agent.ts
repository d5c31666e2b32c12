import type { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Metrics } from '../../../observability/metrics.ts'
import { within } from '../../../runtime/wait.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { streamProgress } from '../../../temporal/client/streams/streams.ts'
import type { Outcome } from '../../submit/submissions.ts'
import { type AgentLoopsOptions, createAgentLoops } from '../agent-loops.ts'
import { missingIn } from '../number-status.ts'
import type { StreamClient } from '../stream-client.ts'
import { reportStream } from '../stream-metrics.ts'
import type { WaitingTransfersDeps } from '../waiting-transfers.ts'
import { createAuditSchedule } from './audit/audit-schedule.ts'
import { createSignedAuditor, type SignedAuditor } from './audit/audit.ts'
import { bootstrapSigned, bootstrapWithoutNode, firstWithoutNode, mayBegin } from './bootstrap.ts'
import type { SignedDeps } from './deps.ts'
import { isUnregistered } from './gaps/fetch-messages.ts'
import { createDelayedMessages, createIgnoredMessages, createRecorder } from './recorder.ts'
import { createLookBack } from './look-back.ts'
import { createExpectedOfSpy, createSilenceEnd } from './spy-silence.ts'

export interface SignedAgentOptions
  extends Omit<SignedDeps, 'streamClient'>, Omit<AgentLoopsOptions, 'source'>, Pick<WaitingTransfersDeps, 'outsideAfterMs'> {
  readonly auditMs: number
  readonly watchEveryMs?: number
}

const every = { tickMs: 500, outcomesMs: 3_000 } as const
/**
 * Interval at which a source without a node records ignored messages, ms. Long, because most of its messages are
 * ignored.
 */
const quietMs = 15_000
const flushMs = 2_000
const watchMs = 30_000

export function createSignedAgent(options: SignedAgentOptions) {
  const { source, chain, bridge, logger } = options
  const { stream } = source.config
  const lookBack = createLookBack(options)
  const begin = () =>
    source.withoutNode ? bootstrapWithoutNode(source, keeper, () => recorder.lowest) : bootstrapSigned(source, keeper, lookBack.firstNumber)
  const loops = createAgentLoops(options, begin, checkpointKey)
  const { streamClient, keeper, alarms } = loops
  const recorder = createRecorder({ streamClient, ...(source.withoutNode && { quietMs }) })
  const delayed = createDelayedMessages(bridge, () => schedule.hurry())
  const expected = createExpectedOfSpy(chain.heads)
  const endSilence = createSilenceEnd(streamClient, expected)
  const recordIgnored = createIgnoredMessages({ ...options, streamClient }, recorder)
  const given = { ...options, streamClient, isReceived: recorder.has, delayed: delayed.of, isMissed: expected.isMissed }
  const auditor = createSignedAuditor(given, options.auditMs, () => firstWithoutNode(source, keeper))
  const schedule = createAuditSchedule({ ...options, streamClient, auditor, recorder })

  async function record(sequence: string, vaa: Uint8Array, outcome: Outcome): Promise<void> {
    if (outcome.kind !== 'refused') auditor.know(outcome.id, bridge.decode(vaa))
    // An old message must not begin the stream of a source without a node.
    if (source.withoutNode && !streamClient.view && !mayBegin(vaa)) return
    if (outcome.kind !== 'refused') recorder.add(sequence, 'started')
    else if (isUnregistered(source, outcome.error)) recorder.add(sequence, 'ignored')
    else await recordIgnored(sequence, vaa, outcome.error.code)
  }

  return {
    start(): void {
      loops.start([
        { name: 'audit', step: () => schedule.step(), everyMs: () => every.tickMs },
        { name: 'outcomes', step: createOutcomeStep(options, streamClient, auditor), everyMs: () => every.outcomesMs },
        { name: 'spy', step: async () => (streamClient.view ? endSilence() : false), everyMs: () => every.tickMs },
      ])
    },
    async stop(): Promise<void> {
      schedule.close()
      await loops.stop(async () => {
        await within(flushMs, recorder.flush(), () => {}).catch(() => {})
        recorder.close()
      })
    },
    report(metrics: Metrics): void {
      reportStream(metrics, stream, streamClient.view, { alarms, checkpointAt: keeper.writtenAt })
    },
    /** Called at a new subscription. The source's count shows which earlier messages are missing. */
    connected(spy: string): void {
      expected.begin(spy)
      schedule.subscribed()
    },
    disconnected: expected.end,
    delayed(sequence: string, vaa: Uint8Array, error: RelayerError): void {
      expected.received(sequence)
      delayed.add(sequence, vaa, error)
    },
    received(sequence: string, vaa: Uint8Array, outcome: Outcome): void {
      expected.received(sequence)
      delayed.delete(sequence)
      // If a message cannot be verified yet, its number becomes a gap.
      record(sequence, vaa, outcome).catch((error: unknown) =>
        logger.debug('a message was not recorded in its stream', { stream, error: String(error) }),
      )
    },
  }
}

function createOutcomeStep({ source, client, watchEveryMs }: SignedAgentOptions, streamClient: StreamClient, auditor: SignedAuditor) {
  const watch = createStreamWatch(client, source.config.stream, watchEveryMs)
  return async (): Promise<boolean> => {
    const { view } = streamClient
    if (!view && source.withoutNode) return false
    const isIdle = view !== undefined && view.open === 0 && missingIn(view) === 0
    const handled = isIdle ? await watch() : undefined
    if (isIdle && !handled) return false
    const state = await streamClient.state()
    if (state) await auditor.reportOutcomes(state)
    handled?.()
    return false
  }
}

/**
 * Returns a function that finds out, without a worker, whether the stream has changed. If so, the answer is a function
 * to call once the change is handled.
 */
export function createStreamWatch(client: TemporalClient, stream: string, everyMs = watchMs): () => Promise<(() => void) | undefined> {
  let nextAt = -Infinity
  let known: string | undefined
  return async () => {
    if (performance.now() < nextAt) return undefined
    nextAt = performance.now() + everyMs
    const progress = await streamProgress(client, stream)
    return progress === known ? undefined : () => void (known = progress)
  }
}

function checkpointKey({ completedNumber, counts, gaps }: StreamView): string {
  const { rejected, declined, cancelled, skipped } = counts
  return JSON.stringify([completedNumber, rejected, declined, cancelled, skipped, gaps.undone])
}
