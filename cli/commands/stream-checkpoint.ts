import { Command } from 'commander'
import { readStream } from '../../api/streams.ts'
import type { Config } from '../../config/schema.ts'
import { RelayerError } from '../../domain/errors.ts'
import { checkpointOf } from '../../domain/stream/checkpoint.ts'
import type { StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import type { CheckpointStore } from '../../streams/checkpoints.ts'
import { createCheckpointStore } from '../../streams/checkpoints.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { print, table } from '../output.ts'
import { streamArgument } from '../streams.ts'
import { withClient } from '../temporal.ts'

const example = 'native-bridge:ethereum:bsc'

/** `portage stream checkpoint show|write` */
export function checkpointCommand(cli: Cli): Command {
  return new Command('checkpoint')
    .description('What is kept of a stream outside Temporal (streams.checkpoints), so that a wiped Temporal is made good quickly.')
    .addCommand(showCommand(cli))
    .addCommand(writeCommand(cli))
}

function showCommand({ context, action }: Cli): Command {
  return streamArgument('show')
    .description('The checkpoint that is kept, beside the one that could be written now. Ends with 1 if there is neither.')
    .addHelpText('after', `\nExample:\n  portage stream checkpoint show ${example} --json`)
    .action(
      action(async (globals: GlobalOptions, stream: string) => {
        const config = await readConfig(context, globals)
        const kept = config.streams.checkpoints && (await storeOf(config).read(stream))
        // After a wipe there is no stream, and what is kept is what the reader wants to see.
        const now = await withClient(config, (client) => readStream(client, stream)).then(checkpointOf, (error: unknown) => {
          if (kept && error instanceof RelayerError && (error.code === 'STREAM_NOT_FOUND' || error.retriable)) return undefined
          throw error
        })
        print(context, globals, { stream, ...(kept && { kept }), ...(now && { now }) }, checkpointsText(config, kept, now))
        return exitCodes.ok
      }),
    )
}

function writeCommand({ context, action }: Cli): Command {
  return streamArgument('write')
    .description('Write the checkpoint of a stream now. The intake does it by itself, every few seconds.')
    .addHelpText('after', `\nExample:\n  portage stream checkpoint write ${example}`)
    .action(
      action(async (globals: GlobalOptions, stream: string) => {
        const config = await readConfig(context, globals)
        const store = storeOf(config)
        const state = await withClient(config, (client) => readStream(client, stream))
        // It would be believed by nobody, and take the place of a better one.
        if (state.start !== undefined && !state.cursor)
          throw new RelayerError('INPUT_INVALID', {
            detail: 'the stream has read no block yet: there is nothing to keep',
            facts: { stream },
          })
        const written = checkpointOf(state)
        await store.write(written)
        print(context, globals, { stream, written }, checkpointsText(config, written, undefined))
        return exitCodes.ok
      }),
    )
}

/** Throws INPUT_INVALID where the config keeps none. */
function storeOf(config: Config): CheckpointStore {
  const { checkpoints } = config.streams
  if (!checkpoints)
    throw new RelayerError('INPUT_INVALID', { detail: 'streams.checkpoints is not in the config: no checkpoints are kept.' })
  return createCheckpointStore(checkpoints)
}

function checkpointsText(config: Config, kept: StreamCheckpoint | undefined, now: StreamCheckpoint | undefined): string {
  const none = config.streams.checkpoints ? 'none yet' : 'nowhere: streams.checkpoints is not in the config'
  const rows = [
    ['kept', ...(kept ? cells(kept) : [none])],
    ['now', ...(now ? cells(now) : ['the stream does not answer'])],
  ]
  return table(['', 'completed_nonce_height', 'completed_block_height', 'exceptions', 'cursor'], now || !kept ? rows : rows.slice(0, 1))
}

function cells({ completedNumber, completedHeight, cursor, exceptions }: StreamCheckpoint): string[] {
  const at = cursor ? `block ${cursor.height}, ${cursor.hash}` : '-'
  return [completedNumber ?? 'none yet', String(completedHeight ?? 'none yet'), String(exceptions.length), at]
}
