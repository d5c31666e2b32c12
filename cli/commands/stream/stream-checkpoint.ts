import { streamNames } from '../../../bridges/registry.ts'
import { aboutStream } from '../../../operations/access/subjects.ts'
import { readStream } from '../../../intake/streams/reports.ts'
import { checkpointPlaceOf } from '../../../config/data-folder.ts'
import type { Config } from '../../../config/schema/schema.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { checkpointOf, type StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { type CheckpointStore, createCheckpointStore, writeCheckpoint } from '../../../intake/streams/checkpoints.ts'
import type { CommandSpec } from '../../command.ts'
import { invalid } from '../../arguments/options.ts'
import { type Cell, table, type Text } from '../../output/output.ts'
import { findStream, streamArgument } from '../../arguments/streams.ts'

const example = 'native-bridge:ethereum:bsc'

export const checkpoint: CommandSpec = {
  description: 'What is kept of a stream outside Temporal (streams.checkpoints), so that a wiped Temporal is made good quickly.',
  commands: {
    show: {
      description: 'The checkpoint that is kept, beside the one that could be written now. Ends with 1 if there is neither.',
      options: streamArgument,
      examples: [`portage stream checkpoint show ${example} --json`],
      run: async ({ config, withTemporal }, stream: string) => {
        const loaded = await config()
        const kept = checkpointPlaceOf(loaded) && (await storeOf(loaded).read(stream))
        // After a wipe there is no stream, and what is kept is what the reader wants to see.
        const now = await withTemporal((client) => readStream(client, stream)).then(checkpointOf, (error: unknown) => {
          if (kept && error instanceof RelayerError && (error.code === 'STREAM_NOT_FOUND' || error.retriable)) return undefined
          throw error
        })
        return { json: { stream, ...(kept && { kept }), ...(now && { now }) }, text: checkpointsText(loaded, kept, now) }
      },
    },
    write: {
      description: 'Write the checkpoint of a stream now. The intake does it by itself, every few seconds.',
      options: streamArgument,
      examples: [`portage stream checkpoint write ${example}`],
      run: ({ withOrder }, name: string) =>
        withOrder(async (client, config, allow) => {
          const stream = await findStream(client, name)
          allow(aboutStream(stream))
          const written = await writeCheckpoint(client, storeOf(config), stream)
          return { json: { stream, written }, text: checkpointsText(config, written, undefined) }
        }),
    },
  },
}

/** Throws INPUT_INVALID where the config keeps none. */
function storeOf(config: Config): CheckpointStore {
  const place = checkpointPlaceOf(config)
  if (!place) throw invalid('streams.checkpoints says none: no checkpoints are kept.')
  return createCheckpointStore(place, streamNames(config))
}

function checkpointsText(config: Config, kept: StreamCheckpoint | undefined, now: StreamCheckpoint | undefined): Text {
  const none = checkpointPlaceOf(config) ? 'none yet' : 'nowhere: streams.checkpoints says none'
  const rows = [
    ['kept', ...(kept ? cells(kept) : [none])],
    ['now', ...(now ? cells(now) : ['the stream does not answer'])],
  ]
  return table(['', 'completed_nonce_height', 'completed_block_height', 'exceptions', 'cursor'], now || !kept ? rows : rows.slice(0, 1))
}

function cells({ completedNumber, completedHeight, cursor, exceptions }: StreamCheckpoint): Cell[] {
  const at = cursor && `block ${cursor.height}, ${cursor.hash}`
  return [completedNumber ?? 'none yet', completedHeight ?? 'none yet', exceptions.length, at]
}
