import type { StreamView } from '../../domain/stream/stream.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Outcome } from '../../intake/submissions.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { createCheckpointKeeper } from '../checkpoint-keeper.ts'
import type { CheckpointStore } from '../checkpoints.ts'
import { createConfigReporter } from '../config-changes.ts'
import { loopsEnded, runLoop } from '../loop.ts'
import { type AgentAlarm, reportStream } from '../report.ts'
import { StreamClient } from '../stream-client.ts'
import { createSignedAuditor } from './audit.ts'
import { bootstrapSigned } from './bootstrap.ts'
import type { SignedDeps } from './deps.ts'
import { graceMs } from './outcomes.ts'
import { isIgnorable } from './fetch-missing.ts'
import { settleMs } from './gap-filler.ts'
import { createRecorder } from './recorder.ts'
import { createTailProof } from './tail-proof.ts'

export interface SignedAgentOptions extends Omit<SignedDeps, 'streamClient'> {
  readonly client: TemporalClient
  /** Absent: no checkpoint is kept. */
  readonly checkpoints: CheckpointStore | undefined
  /** How often the stream is held against its source, ms. */
  readonly auditMs: number
}

/** What feeds the stream of one emitter, in one process; any number of them may, all tell the same. */
export interface SignedAgent {
  start(): void
  stop(): Promise<void>
  report(metrics: Metrics): void
  /** A spy's subscription stands. What was signed before that was told to nobody: the source's count proves what it was. */
  listening(): void
  /** What became of a message that a spy told. */
  heard(sequence: string, vaa: Uint8Array, outcome: Outcome): void
}

/** Pauses, ms. A tick only looks whether there is something to do; that is free. */
const every = { tickMs: 500, endsMs: 3_000, checkpointMs: 5_000, configMs: 5_000 } as const

/** What failed is tried again after this, ms. */
const afterTroubleMs = 5_000

export function createSignedAgent(options: SignedAgentOptions): SignedAgent {
  const { source, chain, client, logger, checkpoints: store, auditMs } = options
  const { stream } = source.config
  const alarms = new Set<AgentAlarm>()
  const keeper = createCheckpointKeeper({ config: source.config, store, alarms, logger })
  const streamClient = new StreamClient({
    client,
    config: source.config,
    logger,
    begin: () => bootstrapSigned(source, keeper.read, keeper.complain),
  })
  const auditor = createSignedAuditor({ ...options, streamClient }, auditMs)
  const recorder = createRecorder({ streamClient })
  const tail = createTailProof(chain.heads)
  const stopping = new AbortController()
  let loops: readonly Promise<void>[] = []
  let auditAt = 0
  let lookAt = 0
  let isAuditOwed = false
  let missing = 0n
  let reached: { readonly next: bigint; readonly completed: number } | undefined

  /** The gaps first: they need no node of the source. */
  async function look(): Promise<boolean | undefined> {
    const now = Date.now()
    const count = streamClient.view ? missingOf(streamClient.view) : 0n
    if (hasGoneBack()) auditAt = 0
    if (count > missing) lookAt = Math.min(lookAt, now + settleMs)
    missing = count
    const isGapsDue = count > 0n && now >= lookAt
    if (isGapsDue) {
      // Until it has come to its end: an audit that is due must not wait for servers that fail.
      lookAt = now + afterTroubleMs
      const { nextAt } = await auditor.look()
      lookAt = nextAt ?? Infinity
    }
    if (now < auditAt && !tail.isDue()) return isGapsDue && !isAuditOwed ? false : undefined
    isAuditOwed = true
    auditAt = now + Math.min(auditMs, afterTroubleMs)
    const done = tail.take()
    // What was heard is no gap.
    await recorder.flush()
    const { nextAt, restarted, closed, undone } = await auditor.audit()
    done()
    isAuditOwed = false
    lookAt = nextAt ?? Infinity
    // Several processes audit the same: not all at once.
    const waitMs = auditMs * (0.9 + Math.random() * 0.2)
    auditAt = now + (auditor.ends.suspects ? Math.min(waitMs, graceMs + every.tickMs) : waitMs)
    if (restarted + closed + undone > 0)
      logger.warn('the audit of a stream found open numbers that were not', { stream, restarted, closed, undone })
    return false
  }

  /** Temporal was wiped, or restored from a copy: what was told since then is gone, and so may be the transfers. */
  function hasGoneBack(): boolean {
    const { view } = streamClient
    if (!view) return false
    const before = reached
    reached = { next: BigInt(view.next), completed: view.counts.completed }
    return before !== undefined && (reached.next < before.next || reached.completed < before.completed)
  }

  async function ends(): Promise<boolean> {
    const state = streamClient.view && streamClient.view.open === 0 && missing === 0n ? undefined : await streamClient.state()
    if (state) await auditor.ends.look(state)
    return false
  }

  async function keep(): Promise<boolean> {
    await keeper.keep(streamClient, newsOf(streamClient.view))
    return false
  }

  async function hear(sequence: string, vaa: Uint8Array, outcome: Outcome): Promise<void> {
    if (outcome.kind !== 'refused') recorder.add(sequence, 'started')
    else if (await isIgnorable(options, vaa)) recorder.add(sequence, 'ignored')
  }

  return {
    start() {
      const common = { stream, stopping: stopping.signal, logger }
      loops = [
        runLoop({ ...common, name: 'audit', look, everyMs: () => every.tickMs }),
        runLoop({ ...common, name: 'ends', look: ends, everyMs: () => every.endsMs }),
        runLoop({
          ...common,
          name: 'config',
          look: createConfigReporter({ wanted: source, streamClient, logger }),
          everyMs: () => every.configMs,
        }),
        runLoop({ ...common, name: 'checkpoint', look: keep, everyMs: () => every.checkpointMs }),
      ]
    },
    async stop() {
      stopping.abort()
      tail.close()
      // What was heard last: else it is a gap until the next start finds it.
      await Promise.race([recorder.flush().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
      recorder.close()
      streamClient.close()
      await loopsEnded(loops)
    },
    report(metrics) {
      reportStream(metrics, stream, streamClient.view, { alarms, checkpointAt: keeper.writtenAt })
    },
    listening() {
      tail.begin()
      auditor.gaps.hurry()
      lookAt = 0
      auditAt = 0
    },
    heard(sequence, vaa, outcome) {
      // What cannot be told apart now is a gap, and told apart by the audit.
      hear(sequence, vaa, outcome).catch((error: unknown) =>
        logger.debug('a message was not told to its stream', { stream, error: String(error) }),
      )
    },
  }
}

/** What its checkpoint would say: the watermark, and what ended above it without a delivery, or is taken up again. */
function newsOf({ completedNumber, counts, gaps }: Partial<StreamView> = {}): string | undefined {
  if (counts === undefined) return undefined
  const { rejected, declined, cancelled, skipped } = counts
  return JSON.stringify([completedNumber, rejected, declined, cancelled, skipped, gaps?.undone])
}

function missingOf({ gaps }: StreamView): bigint {
  return Object.values(gaps).reduce((sum, count) => sum + BigInt(count), 0n)
}
