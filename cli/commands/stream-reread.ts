import { sourceOf } from '../../streams/reports.ts'
import { RelayerError } from '../../domain/errors.ts'
import { withChain } from '../chains.ts'
import { type Call, defineCommand } from '../command.ts'
import { type By, parse, withBy } from '../options.ts'
import { order } from '../orders.ts'
import { streamArgument, toStream } from '../streams.ts'

export const reread = defineCommand({
  name: 'reread',
  description: 'Go back to a block that is still in the chain, and read all above it again: after a fork of the source below its finality.',
  options: (command) =>
    withBy(
      streamArgument(command)
        .requiredOption('--block <height>', 'the block, below the cursor', parse.number)
        .option('--hash <hash>', 'its hash, if you know it; the nodes of the source are asked for it by majority in any case', parse.hash),
    ),
  notes: 'Portage does this by itself when it meets a fork. Numbers above the block are unknown again: skips above it are forgotten.',
  examples: ['portage stream reread native-bridge:ethereum:bsc --block 18000000'],
  run: async (call: Call<By & { block: number; hash?: string }>, stream: string) => {
    const { block, hash, by } = call.options
    const found = await withChain(await call.config(), sourceOf(stream), (chain) => chain.block(block, 'agreed'))
    if (!found) throw new RelayerError('INPUT_INVALID', { detail: `--block: the source has no block ${block} yet` })
    if (hash !== undefined && hash !== found.hash.toLowerCase()) {
      throw new RelayerError('INPUT_INVALID', { detail: `--hash: block ${block} of the source is ${found.hash}` })
    }
    const request = { kind: 'reread', block: { height: block, hash: found.hash }, by } as const
    return order(call, toStream(stream, request), { done: `back to block ${block}, ${found.hash}` })
  },
})
