import type { Client } from '@temporalio/client'
import { Command, InvalidArgumentError } from 'commander'
import { orderOfStream, sourceOf, toReport } from '../api/streams.ts'
import type { Heights, StreamReport } from '../api/streams.ts'
import type { StreamOrder } from '../api/stream-orders.ts'
import type { Chain } from '../chains/port.ts'
import { createChain } from '../chains/registry.ts'
import type { Config } from '../config/schema.ts'
import type { StreamView } from '../domain/stream/stream.ts'
import type { Cli, ExitCode, GlobalOptions } from './context.ts'
import { exitCodes, readConfig } from './context.ts'
import { facts, print } from './output.ts'
import { withClient } from './temporal.ts'
import { chainOf } from '../config/chains.ts'

/** A list of streams waits no longer for an answer of a node: the lag is then unknown, ms. */
const headTimeoutMs = 3_000

/** A command about one stream. */
export function streamArgument(name: string): Command {
  return new Command(name).argument('<stream>', 'stream id (native-bridge:ethereum:bsc); portage stream list shows them')
}

/** Orders something of a stream and prints what came of it. Throws INPUT_INVALID, STREAM_NOT_FOUND, STREAM_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
export async function order(
  { context }: Pick<Cli, 'context'>,
  globals: GlobalOptions,
  stream: string,
  request: StreamOrder,
  note: { readonly done: string; readonly same?: string },
): Promise<ExitCode> {
  const config = await readConfig(context, globals)
  const { done, view } = await withClient(config, (client) => orderOfStream(client, stream, request))
  const came = done ? { done: note.done } : { unchanged: note.same ?? 'it says nothing about the stream as it stands' }
  print(context, globals, { done, view: plainReport(view) }, facts({ stream, ...came, ...watermark(view) }))
  return exitCodes.ok
}

/** Runs `use` with a client, the config, and the finalized heights of the source chains of these streams as far as their nodes tell. */
export async function withHeights<Result>(
  config: Config,
  read: (client: Client) => Promise<{ readonly streams: readonly string[]; readonly use: (heights: Heights) => Result }>,
): Promise<Result> {
  const { streams, use } = await withClient(config, read)
  const sources = [...new Set(streams.map(sourceOf))]
  const known = new Map(await Promise.all(sources.map(async (name) => [name, await finalizedHeight(config, name)] as const)))
  return use((chain) => known.get(chain))
}

/** The report of an answer to an order: nobody asks a node for it. */
export function plainReport(view: StreamView): StreamReport {
  return toReport(view, () => undefined)
}

/** MIP-61's two heights, for people. */
export function watermark({ completedNumber, completedHeight }: StreamView): Record<string, string | number | undefined> {
  return { completed_nonce_height: completedNumber ?? 'none yet', completed_block_height: completedHeight ?? 'none yet' }
}

/** For commander: a number of a stream. */
export function u64(text: string): string {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text) || BigInt(text) >= 2n ** 64n)
    throw new InvalidArgumentError('It must be a whole number below 2^64.')
  return text
}

/** For commander: a height of a chain. */
export function height(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Undefined where the config has no such chain, or its nodes do not tell. */
async function finalizedHeight(config: Config, name: string): Promise<number | undefined> {
  if (!config.chains[name]) return undefined
  return withChain(config, name, async ({ heads }) => heads.current?.finalized, headTimeoutMs).catch(() => undefined)
}

/** Runs `use` with a connected chain of the config. Throws INPUT_INVALID (no such chain), NODE_UNAVAILABLE, CHAIN_ID_MISMATCH. */
export async function withChain<Result>(
  config: Config,
  name: string,
  use: (chain: Chain) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const { family, networkId, nodes, finality, blockTimeMs } = chainOf(config, name)
  const chain = createChain(family, { name, networkId, nodes, finality, blockTimeMs, ...(timeoutMs && { timeoutMs }) })
  try {
    await chain.connect()
    return await use(chain)
  } finally {
    chain.close()
  }
}
