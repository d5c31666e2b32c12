import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Metrics } from '../../../observability/metrics.ts'
import { type AgentLoopsOptions, createAgentLoops } from '../agent-loops.ts'
import { reportStream } from '../report.ts'
import type { StreamClient } from '../stream-client.ts'
import { createStreamWatch } from '../stream-watch.ts'
import { missingIn } from '../number-status.ts'
import { createAuditSchedule } from './audit/audit-schedule.ts'
import { createSignedAuditor, type SignedAuditor } from './audit/audit.ts'
import { createDelayedMessages } from './gaps/blocked.ts'
import { bootstrapSigned } from './bootstrap.ts'
import type { SignedDeps } from './deps.ts'
import { createHearing } from './hearing.ts'
import { createLookBack } from './look-back.ts'
import { createPassedOver } from './gaps/passed-over.ts'
import { createRecorder } from './recorder.ts'
import { createExpectedOfSpy, createSilenceEnd } from './spy-silence.ts'
import { createTailProof } from './audit/tail-proof.ts'
import { bootstrapWithoutNode, firstWithoutNode } from './without-node.ts'

export interface SignedAgentOptions extends Omit<SignedDeps, 'streamClient'>, Omit<AgentLoopsOptions, 'source'> {
  /** How often the stream is held against its source, ms. */
  readonly auditMs: number
  /** As `LongWaitsDeps`. */
  readonly asideAfterMs?: number
  /** How often a stream that has nothing to do is looked at, ms: others may have told it something. Default `createStreamWatch`'s. */
  readonly toldEveryMs?: number
}

/** Pauses, ms. A tick only looks whether something is due. */
const every = { tickMs: 500, outcomesMs: 3_000 } as const
/** Most messages of a source without a node go where we deliver nothing: many of them are recorded together, ms. */
const quietMs = 15_000
/** Longest wait for the last record when the agent stops, ms. */
const flushMs = 2_000

/** What feeds the stream of one emitter in this process. Any number of processes may: each records what it heard and found. */
export function createSignedAgent(options: SignedAgentOptions) {
  const { source, chain } = options
  const { stream } = source.config
  const lookBack = createLookBack(options)
  const begin = () =>
    source.withoutNode
      ? bootstrapWithoutNode(source, keeper.read, keeper.complain, () => recorder.lowest)
      : bootstrapSigned(source, keeper.read, keeper.complain, lookBack.firstNumber)
  const loops = createAgentLoops(options, begin, checkpointKey)
  const { streamClient, keeper, alarms } = loops
  const recorder = createRecorder({ streamClient, ...(source.withoutNode && { quietMs }) })
  const delayed = createDelayedMessages(options.bridge, () => schedule.hurry())
  const expected = createExpectedOfSpy(chain.heads)
  const endSilence = createSilenceEnd({ streamClient }, expected)
  const passOver = createPassedOver({ ...options, streamClient }, recorder)
  const given = { ...options, streamClient, isHeard: recorder.has, delayed: delayed.of, isUnheard: expected.isUnheard }
  const auditor = createSignedAuditor(given, options.auditMs, () => firstWithoutNode(source, keeper))
  const tail = createTailProof(chain.heads)
  const schedule = createAuditSchedule({ ...options, streamClient, auditor, recorder, tail })

  return {
    start(): void {
      loops.start([
        { name: 'audit', look: () => schedule.look(), everyMs: () => every.tickMs },
        { name: 'outcomes', look: createOutcomeLook(options, streamClient, auditor), everyMs: () => every.outcomesMs },
        {
          name: 'spy',
          // Without a view there is nothing that was noted, or the first audit is yet to come.
          look: async () => {
            if (streamClient.view) await endSilence()
            return false
          },
          everyMs: () => every.tickMs,
        },
      ])
    },
    async stop(): Promise<void> {
      tail.close()
      await loops.stop(async () => {
        // A number that was heard and not recorded is a gap until the next start.
        await Promise.race([recorder.flush().catch(() => {}), sleep(flushMs, undefined, { ref: false })])
        recorder.close()
      })
    },
    report(metrics: Metrics): void {
      reportStream(metrics, stream, streamClient.view, { alarms, checkpointAt: keeper.writtenAt })
    },
    /** A spy's subscription was opened. Messages that were signed before may be missing: the source's count proves which they were. */
    listening(): void {
      expected.begin()
      tail.begin()
      schedule.hurry()
    },
    /** It has ended: what is published from now on is not told. */
    deaf: expected.end,
    /** What the spy tells. */
    ...createHearing({ ...options, streamClient, recorder, delayed, expected, auditor, passOver }),
  }
}

/** Records how transfers ended, where any are open. */
function createOutcomeLook({ source, client, toldEveryMs }: SignedAgentOptions, streamClient: StreamClient, auditor: SignedAuditor) {
  const watch = createStreamWatch(client, source.config.stream, toldEveryMs)
  return async (): Promise<boolean> => {
    const { view } = streamClient
    // One without a node may never begin: the audits ask whether it has.
    if (!view && source.withoutNode) return false
    // What another process, or an operator's command, has recorded is not in this view.
    const isIdle = view !== undefined && view.open === 0 && missingIn(view) === 0
    const dealtWith = isIdle ? await watch() : undefined
    if (isIdle && !dealtWith) return false
    const state = await streamClient.state()
    if (state) await auditor.reportOutcomes(state)
    // What throws above is looked at again.
    dealtWith?.()
    return false
  }
}

/** The watermark, the exceptions, and what is taken up again. */
function checkpointKey({ completedNumber, counts, gaps }: StreamView): string {
  const { rejected, declined, cancelled, skipped } = counts
  return JSON.stringify([completedNumber, rejected, declined, cancelled, skipped, gaps.undone])
}
