import type { HeadEvent } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { numberOfUnconfigured } from '../../domain/transfer/transfer.ts'
import type { StreamState, StreamView } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { limited } from '../../temporal/client/connection/answer-limits.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { rethrowAs } from '../../temporal/client/connection/errors.ts'
import { findStreams, nameOf, queryStream, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { rowOf } from '../../temporal/client/visibility/rows.ts'
import { streamReportSchema } from './report-schema.ts'

/** A stream's view as people see it, with MIP-61's words. */
export interface StreamReport extends StreamView {
  readonly workflowId?: string
  readonly cursor?: number
  readonly lag?: number
  readonly completed_nonce_height?: string
  readonly completed_block_height?: number
  /** Time of the head up to which `lag` is counted, ISO 8601. It is old if the source's nodes do not answer. */
  readonly headAt?: string
  /** Guarantees that are missing because the config has no node of the source. */
  readonly unproved?: readonly string[]
  /** Time of the last update, ISO 8601. Present only if two audits should have reported since then. */
  readonly silentSince?: string
  readonly asOf: string
}

export type StreamRow = StreamReport | { readonly stream: string; readonly problem: string }

export type Heights = (chain: string) => Pick<HeadEvent, 'finalized' | 'time'> | undefined

export async function listStreams(client: TemporalClient, heights: Heights, auditMinutes?: number): Promise<StreamRow[]> {
  const { own, others } = await findStreams(client).catch(rethrowAs({}))
  const report = (reader: TemporalClient, stream: string) => {
    const read = async () => ({
      ...toReport(viewStream(await readStream(reader, stream)), heights, auditMinutes),
      workflowId: workflowIdOf(client, stream),
    })
    const forged = () => new RelayerError('STREAM_UNREACHABLE', { detail: 'Its answer is not the state of a stream.', facts: { stream } })
    return rowOf(streamReportSchema, read, (problem = forged()) => ({ stream, problem: problem.message }))
  }
  const [ofOwn, ofOthers] = [limited(client, 'own'), limited(client, 'others')]
  const isOwn = new Set(own)
  return Promise.all([...own, ...others].toSorted().map((stream) => report(isOwn.has(stream) ? ofOwn : ofOthers, stream)))
}

/** Throws STREAM_NOT_FOUND, TEMPORAL_UNAVAILABLE, and STREAM_UNREACHABLE if no worker of the queue `ledger` answers. */
export async function readStream(client: TemporalClient, stream: string): Promise<StreamState> {
  const state = await queryStream(client, stream)
  if (!state) throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream } })
  return { ...state, config: { ...state.config, stream: nameOf(client, stream) } }
}

export function toReport(view: StreamView, heights: Heights, auditMinutes?: number): StreamReport {
  const { nextHeight, completedNumber, completedHeight, stream } = view
  const cursor = nextHeight === undefined ? undefined : nextHeight - 1
  const head = heights(sourceOf(stream))
  const unproved = unprovedOf(view, sourceOf(stream))
  const silent = auditMinutes === undefined || unproved ? undefined : silentSince(view, auditMinutes, Date.now())
  return {
    ...view,
    ...(cursor !== undefined && {
      cursor,
      ...(head && { lag: Math.max(0, head.finalized - cursor) }),
      ...(head?.time !== undefined && { headAt: new Date(head.time * 1_000).toISOString() }),
    }),
    ...(completedNumber !== undefined && { completed_nonce_height: completedNumber }),
    ...(completedHeight !== undefined && { completed_block_height: completedHeight }),
    ...(unproved && { unproved }),
    ...(silent !== undefined && { silentSince: new Date(silent).toISOString() }),
    asOf: new Date().toISOString(),
  }
}

/** Time that an audit rarely exceeds, ms. */
const auditTakesMs = 15_000

export function silentSince({ updatedAt }: Pick<StreamView, 'updatedAt'>, auditMinutes: number, now: number): number | undefined {
  return updatedAt !== undefined && now - updatedAt > 2 * auditMinutes * 60_000 + auditTakesMs ? updatedAt : undefined
}

export function sourceOf(stream: string): string {
  return stream.split(':')[1] ?? ''
}

function unprovedOf({ next }: Pick<StreamView, 'next'>, sourceChain: string): readonly string[] | undefined {
  if (numberOfUnconfigured(sourceChain) === undefined) return undefined
  return [
    `head: whether the source has published ${next} or more. The spy sends new messages, and each audit (portage stream audit) asks the servers of the guardians for the next few`,
    'finality: whether the blocks of its messages are final. The guardians wait for finality before they sign; this process does not check it',
    'unobserved: whether a gap with this state has a message at all. Find its number in an explorer of Wormhole before you skip it',
  ]
}
