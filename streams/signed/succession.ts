import type { SignedSource } from '../../bridges/source-port.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { compare } from '../../domain/stream/gaps.ts'
import { covers, succeed } from '../../domain/stream/succession.ts'
import type { Logger, WarningFields } from '../../observability/logger.ts'
import { blockedBy } from '../../domain/stream/watermark.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { keptRead } from '../../temporal/client/shared-read.ts'
import { endStream, listStreamNames } from '../../temporal/client/streams.ts'
import type { StreamInput } from '../../temporal/contracts/stream.ts'
import { configuredBy } from '../config-changes.ts'
import type { StreamClient } from '../stream-client.ts'
import { createPredecessors, createUnfedLook, hasNode, type Predecessor } from './predecessors.ts'

export interface SuccessionOptions {
  readonly source: Pick<SignedSource, 'config' | 'sourceChain' | 'withoutNode'>
  readonly client: TemporalClient
  readonly logger: Logger
  /** How often each process that feeds a stream tells it something, ms: the count of its audit. */
  readonly auditMs: number
  /** The names of all streams that run; many agents of a process share one list. Default: its own. */
  readonly streams?: () => Promise<readonly string[]>
}

/** A stream that was told nothing for so many audits has nobody who feeds it. */
const quietAudits = 2.5

/**
 * The same numbers may have had a stream of another name: before the source had a node, while it had one, or before the config called its chain otherwise. This
 * one takes its state over, so that the watermark is kept and nothing is lost, and ends it.
 */
export function createSuccession({ source, client, logger, auditMs, streams }: SuccessionOptions) {
  const { config } = source
  const names = streams ?? keptRead(() => listStreamNames(client), { fromAnswer: Math.min(30_000, auditMs / 2) })
  const told = new Set<string>()
  const find = createPredecessors(client, config, names, warn)
  const isUnfed = createUnfedLook(client, quietAudits * auditMs)

  /** Once for each stream and reason. */
  function warn(message: string, fields: WarningFields): void {
    const key = `${fields.code}/${String(fields['predecessor'])}`
    if (!told.has(key)) logger.warn(message, { stream: config.stream, ...fields })
    told.add(key)
  }

  async function end({ stream, state }: Predecessor, streamClient: Pick<StreamClient, 'apply' | 'state'>): Promise<void> {
    // A source with a node proves more than one without, and goes before. All others only end when nobody feeds them.
    if ((source.withoutNode || hasNode(stream)) && !(await isUnfed(stream))) return
    // It knew that these exist: where the source is not counted, nothing else may show them.
    const upTo = BigInt(state.next) - 1n
    const own = await streamClient.state()
    if (own && upTo >= BigInt(own.next)) await streamClient.apply([{ kind: 'audited', upTo: String(upTo), height: 0, present: [] }])
    const now = await streamClient.state()
    if (!now) return
    if (!covers(now, state)) {
      const about = { code: 'PREDECESSOR_OPEN', predecessor: stream, first: now.first } as const
      return warn('an older stream of the same numbers has open ones below the first of this one; nobody feeds it any more', about)
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
     * What the stream begins with, if its numbers had another one. Of several the one whose watermark is lowest: what the others know lies above. Throws what
     * the Temporal client throws, and for a while STREAM_UNREACHABLE: a predecessor does not answer.
     */
    async begin(): Promise<StreamInput | undefined> {
      const states = (await find()).map(({ state }) => succeed(state, config))
      const [lowest] = states.toSorted((a, b) => compare(lowestOpen(a), lowestOpen(b)))
      return lowest && { config: lowest.config, state: lowest }
    },
    /** Takes over what is there, and ends it where nobody needs it. Throws what the Temporal client throws. */
    async look(streamClient: Pick<StreamClient, 'apply' | 'state'>): Promise<undefined> {
      const found = await find()
      if (found.length === 0) return
      // Whatever it is told first: it begins with what `begin` says.
      if (!(await streamClient.state())) await streamClient.apply([configuredBy(config)])
      for (const one of found) await end(one, streamClient)
    },
  }
}

/** The number that the watermark waits for, or the next one. */
function lowestOpen(state: StreamState): string {
  return blockedBy(state)?.number ?? state.next
}
