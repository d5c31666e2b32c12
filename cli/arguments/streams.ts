import type { Command } from 'commander'
import { aboutStream } from '../../operations/access/subjects.ts'
import { orderStream, type StreamOrder } from '../../intake/streams/orders.ts'
import { type Heights, sourceOf, type StreamReport, toReport } from '../../intake/streams/reports.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { isShort, isShortFor } from '../../domain/text/short-id.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { fromTemporal } from '../../temporal/client/connection/errors.ts'
import { listStreamNames, nameOf } from '../../temporal/client/streams/streams.ts'
import { withChain } from './chains.ts'
import type { Call, Outcome } from '../command.ts'
import type { Reasoned } from './options.ts'
import { order, type Words } from '../orders.ts'
import type { Cell } from '../output/output.ts'

/** A list of streams waits so long for a node, ms; then the lag is unknown. */
const headTimeoutMs = 3_000

/** The argument of every command about one stream. */
export function streamArgument(command: Command): Command {
  return command.argument('<stream>', 'stream id (native-bridge:ethereum:bsc), in full or as portage stream list shortens it')
}

/**
 * The name of a stream. Throws STREAM_NOT_FOUND (no stream or several have this name), TEMPORAL_UNAVAILABLE.
 * @param name in full, as lists shorten it, or with the numbers of the chains
 */
export async function findStream(client: TemporalClient, name: string): Promise<string> {
  if (!isShort(name)) return nameOf(client, name)
  const names = await listStreamNames(client).catch((error: unknown) => {
    throw fromTemporal(error, {})
  })
  const [one, ...more] = names.filter((stream) => isShortFor(name, stream))
  if (one !== undefined && more.length === 0) return one
  const detail = one === undefined ? undefined : `Several streams have this name: ${[one, ...more].join(', ')}.`
  throw new RelayerError('STREAM_NOT_FOUND', { detail, facts: { stream: name } })
}

/** An order without who gives it, and why. */
type Unsigned<One> = One extends unknown ? Omit<One, 'order'> : never

/** Gives an order to a stream. Throws INPUT_INVALID, STREAM_NOT_FOUND, STREAM_UNREACHABLE, ACCESS_*, TEMPORAL_UNAVAILABLE. */
export function sendToStream(call: Call<Reasoned>, name: string, words: Words, request: Unsigned<StreamOrder>): Promise<Outcome> {
  return order(call, words, async (client, _, allow) => {
    const stream = await findStream(client, name)
    const { done, view, warning } = await orderStream(client, stream, { ...request, order: allow(aboutStream(stream)) })
    const warned = warning === undefined ? {} : { warning }
    return {
      result: done ? 'done' : 'unchanged',
      json: { done, view: plainReport(view), ...warned },
      about: { ...warned, stream, ...watermark(view) },
    }
  })
}

/** The finalized heights of the source chains of these streams, as far as their nodes tell. */
export async function finalizedHeights(config: Config, streams: readonly string[]): Promise<Heights> {
  const sources = [...new Set(streams.map(sourceOf))].filter((name) => config.chains[name])
  const read = async (name: string): Promise<[string, ReturnType<Heights>]> => {
    const head = withChain(config, name, async ({ heads }) => heads.current, { timeoutMs: headTimeoutMs })
    const found = await head.catch(() => undefined)
    return [name, found && { finalized: found.finalized, headAt: found.latest.timestamp * 1_000 }]
  }
  const known = new Map<string, ReturnType<Heights>>(await Promise.all(sources.map(read)))
  return (chain) => known.get(chain)
}

/** A report without the lag, for which a node would have to be asked. */
export function plainReport(view: StreamView): StreamReport {
  return toReport(view, () => undefined)
}

/** MIP-61's two heights, for people. */
export function watermark({ completedNumber, completedHeight }: StreamView): Record<string, Cell> {
  return { completed_nonce_height: completedNumber ?? 'none yet', completed_block_height: completedHeight ?? 'none yet' }
}
