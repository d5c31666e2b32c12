import type { Command } from 'commander'
import { type Heights, sourceOf } from '../../intake/streams/reports.ts'
import type { Config } from '../../config/schema/schema.ts'
import { withChain } from './chains.ts'

/** ms. Without an answer the lag is unknown. */
const headTimeoutMs = 3_000

export function streamArgument(command: Command): Command {
  return command.argument('<stream>', 'stream id (native-bridge:ethereum:bsc), in full or as portage stream list shortens it')
}

/** By source chain, where a node answers. */
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
