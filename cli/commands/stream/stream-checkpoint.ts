import { streamNames } from '../../../bridges/registry.ts'
import { readStream } from '../../../intake/streams/reports.ts'
import { checkpointPlaceOf } from '../../../config/data-folder.ts'
import type { Config } from '../../../config/schema/schema.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { checkpointOf, type StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { checkpointStoreOf } from '../../../operations/orders/stream.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { giveOrder, orderCommand, type OrderOptions } from '../../orders.ts'
import { type Cell, table, type Text } from '../../output/output.ts'
import { streamArgument } from '../../arguments/streams.ts'

const example = 'native-bridge:ethereum:bsc'

export const checkpoint: CommandSpec = {
  description: 'Checkpoints of a stream outside Temporal (streams.checkpoints): after a wipe of Temporal the stream continues from one.',
  commands: {
    show: {
      description: 'The kept checkpoint, and the one that could be written now. Ends with 1 if there is neither.',
      options: streamArgument,
      examples: [`portage stream checkpoint show ${example} --json`],
      run: async ({ config, withTemporal }, stream: string) => {
        const loaded = await config()
        const kept = checkpointPlaceOf(loaded) && (await checkpointStoreOf(loaded, streamNames(loaded)).read(stream))
        // After a wipe there is no stream, but a kept checkpoint.
        const now = await withTemporal((client) => readStream(client, stream)).then(checkpointOf, (error: unknown) => {
          if (kept && error instanceof RelayerError && (error.code === 'STREAM_NOT_FOUND' || error.retriable)) return undefined
          throw error
        })
        return { json: { stream, ...(kept && { kept }), ...(now && { now }) }, text: checkpointsText(loaded, kept, now) }
      },
    },
    write: {
      ...orderCommand('stream checkpoint write'),
      run: async (call: Call<OrderOptions>, name: string) => {
        const { json } = await giveOrder(call, 'stream checkpoint write', name, {})
        const { written } = json as { readonly written: StreamCheckpoint }
        return { json, text: checkpointsText(await call.config(), written, undefined) }
      },
    },
  },
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
