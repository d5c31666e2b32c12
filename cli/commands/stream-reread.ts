import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { sourceOf } from '../../api/streams.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { readConfig } from '../context.ts'
import { osUser } from '../settings.ts'
import { height, order, streamArgument, withChain } from '../streams.ts'

interface RereadOptions {
  readonly block: number
  readonly hash?: string
  readonly by?: string
}

/** `portage stream reread` */
export function rereadCommand(cli: Cli): Command {
  return streamArgument('reread')
    .description(
      'Go back to a block that is still in the chain, and read all above it again: after a fork of the source below its finality.',
    )
    .requiredOption('--block <height>', 'the block, below the cursor', height)
    .option('--hash <hash>', 'its hash, if you know it; the nodes of the source are asked for it by majority in any case', blockHash)
    .option('--by <name>', 'who orders it (default: the user of the operating system)')
    .addHelpText(
      'after',
      '\nPortage does this by itself when it meets a fork. Numbers above the block are unknown again: skips above it are forgotten.\n\nExample:\n  portage stream reread native-bridge:ethereum:bsc --block 18000000',
    )
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, { block, hash, by = osUser() }: RereadOptions) => {
        const config = await readConfig(cli.context, globals)
        const found = await withChain(config, sourceOf(stream), (chain) => chain.block(block, 'agreed'))
        if (!found) throw new RelayerError('INPUT_INVALID', { detail: `--block: the source has no block ${block} yet` })
        if (hash !== undefined && hash !== found.hash.toLowerCase()) {
          throw new RelayerError('INPUT_INVALID', { detail: `--hash: block ${block} of the source is ${found.hash}` })
        }
        const request = { kind: 'reread', block: { height: block, hash: found.hash }, by } as const
        return order(cli, globals, stream, request, { done: `back to block ${block}, ${found.hash}` })
      }),
    )
}

function blockHash(text: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError('It must be 0x and 64 hex digits.')
  return text.toLowerCase()
}
