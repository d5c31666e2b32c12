import type { SignedSource } from '../../../bridges/source-port.ts'
import { commandsOf } from '../../../domain/catalogue/cause.ts'
import { countRuns, type Run } from '../../../domain/stream/runs.ts'
import { succeed, uncovered, unite } from '../../../domain/stream/succession.ts'
import type { Logger, WarningFields } from '../../../observability/logger.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { keptRead } from '../../../runtime/shared-read.ts'
import { endStream, listStreamNames } from '../../../temporal/client/streams/streams.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'
import { configuredBy } from '../config-changes.ts'
import type { StreamClient } from '../stream-client.ts'
import { createCountedPredecessors, createPredecessors, createWithoutSourceLook, hasNode, type Predecessor } from './predecessors.ts'

export interface SuccessionOptions {
  readonly source: Pick<SignedSource, 'config' | 'highest' | 'withoutNode'>
  readonly client: TemporalClient
  readonly logger: Logger
  /** How often each process that feeds a stream tells it something, ms: the count of its audit. */
  readonly auditMs: number
  /** The names of all streams that run; many agents of a process share one list. Default: its own. */
  readonly streams?: () => Promise<readonly string[]>
}

/** A stream that was told nothing for so many audits has nobody who feeds it. */
const quietAudits = 2.5
/** Where nobody counts the source: so many numbers are taken up by an older stream's word. A stranger's may claim any. */
const mostTaken = 10_000n
/** Of those that are in the way, so many are named. */
const mostNamed = 5

/**
 * The same numbers may have had a stream of another name: before the source had a node, while it had one, or before the config called its chain otherwise. This
 * one takes its state over, so that the watermark is kept and nothing is lost, and ends it.
 */
export function createSuccession({ source, client, logger, auditMs, streams }: SuccessionOptions) {
  const { config } = source
  const names = streams ?? keptRead(() => listStreamNames(client), { fromAnswer: Math.min(30_000, auditMs / 2) })
  const told = new Set<string>()
  const find = createCountedPredecessors(source, createPredecessors(client, config, names, warn), warn)
  const isWithoutSource = createWithoutSourceLook(client, quietAudits * auditMs)

  /** Once for each stream and reason. */
  function warn(message: string, fields: WarningFields): void {
    const key = `${fields.code}/${String(fields['predecessor'])}`
    if (!told.has(key)) logger.warn(message, { stream: config.stream, ...fields })
    told.add(key)
  }

  async function end(one: Predecessor, highest: string | undefined, streamClient: Pick<StreamClient, 'apply' | 'state'>): Promise<void> {
    const { stream, state } = one
    // A source with a node proves more than one without, and goes before. All others only end when nobody feeds them.
    if ((source.withoutNode || hasNode(stream)) && !(await isWithoutSource(stream))) return
    if (source.withoutNode) await takeUp(one, streamClient)
    const now = await streamClient.state()
    if (!now) return
    const isKnown = BigInt(state.next) <= BigInt(now.next)
    // The next audit counts the source, and so has them.
    if (!isKnown && !source.withoutNode) return
    const lost = uncovered(now, state, highest)
    if (!isKnown || lost.length > 0) {
      const numbers = isKnown ? named(lost) : `${now.next}-${BigInt(state.next) - 1n}`
      const about = { code: 'PREDECESSOR_OPEN', predecessor: stream, first: now.first, numbers } as const
      const [, command] = commandsOf('STREAM_WITHOUT_SOURCE', { stream })
      return warn('an older stream has numbers open, or knows of some, that this one does not take up; it is not ended', {
        ...about,
        command,
      })
    }
    await endStream(client, stream, `portage: its numbers go on in ${config.stream}`)
    logger.info('a stream has ended: its numbers go on under another name', {
      stream: config.stream,
      predecessor: stream,
      next: state.next,
    })
  }

  return {
    /**
     * What the stream begins with, if its numbers had another one; of several, with what any of them has not resolved. Throws what the Temporal client and reads
     * throw, and for a while STREAM_UNREACHABLE: a predecessor does not answer.
     */
    async begin(): Promise<StreamInput | undefined> {
      const { found } = await find()
      const state = unite(
        found.map((one) => succeed(one.state, config)),
        Date.now(),
      )
      return state && { config: state.config, state }
    },
    /** Takes over what is there, and ends it where nobody needs it. Throws what the Temporal client and reads throw. */
    async look(streamClient: Pick<StreamClient, 'apply' | 'state'>): Promise<undefined> {
      const { found, highest } = await find()
      if (found.length === 0) return
      // Whatever it is told first: it begins with what `begin` says.
      if (!(await streamClient.state())) await streamClient.apply([configuredBy(config)])
      for (const one of found) await end(one, highest, streamClient)
    },
  }
}

/** What the stream would have to have, and has not: numbers are added to it, and never resolved. */
async function takeUp({ state }: Predecessor, streamClient: Pick<StreamClient, 'apply' | 'state'>): Promise<void> {
  const own = await streamClient.state()
  if (!own) return
  const above = BigInt(state.next) - BigInt(own.next)
  // It knew that these exist: nothing else may show them.
  if (above > 0n && above <= mostTaken)
    await streamClient.apply([{ kind: 'audited', upTo: String(BigInt(state.next) - 1n), height: 0, present: [] }])
  const lost = uncovered((await streamClient.state()) ?? own, state)
  if (lost.length > 0 && countRuns(lost) <= mostTaken)
    await streamClient.apply([{ kind: 'undone', numbers: lost.map(([from, to]) => [String(from), String(to)] as const) }])
}

/** The lowest of them, `5, 7-9`. */
function named(runs: readonly Run[]): string {
  const some = runs.slice(0, mostNamed).map(([from, to]) => (from === to ? String(from) : `${from}-${to}`))
  return `${some.join(', ')}${runs.length > mostNamed ? ', …' : ''}`
}
