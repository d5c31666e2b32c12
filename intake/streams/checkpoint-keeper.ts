import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { checkpointOf, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import type { StreamConfig } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { CheckpointStore } from './checkpoints.ts'
import type { AgentAlarm } from './stream-metrics.ts'
import type { StreamClient } from './stream-client.ts'
import { problemOf } from '../../observability/severity.ts'

export type CheckpointKeeper = ReturnType<typeof createCheckpointKeeper>

/** Reads and writes the checkpoint of one stream, if there is a store. Problems raise an alarm and are logged. */
export function createCheckpointKeeper(
  { stream, start, origin }: Pick<StreamConfig, 'stream' | 'start' | 'origin'>,
  store: CheckpointStore | undefined,
  alarms: Set<AgentAlarm>,
  logger: Logger,
) {
  let written: string | undefined
  let writtenAt: number | undefined

  function raise(text: string, error: unknown): void {
    if (!alarms.has('checkpoint')) logger.error(text, { stream, ...problemOf(error) })
    alarms.add('checkpoint')
  }

  const complain = (error: unknown) => raise('the checkpoint of a stream cannot be used', error)

  return {
    complain,
    /** Undefined: there is no usable checkpoint. Throws CHECKPOINT_UNAVAILABLE: there may be one. */
    async read(): Promise<StreamCheckpoint | undefined> {
      try {
        const found = await store?.read(stream)
        if (found && found.origin !== origin)
          throw new RelayerError('CHECKPOINT_INVALID', {
            detail: `origin: ${found.origin}, and not ${origin}`,
            facts: { stream },
          })
        return found
      } catch (error) {
        complain(error)
        if (toRelayerError(error).code === 'CHECKPOINT_UNAVAILABLE') throw error
        return undefined
      }
    },
    /** Writes if `key` has changed since the last write. Throws what reading the state throws. */
    async keep(streamClient: Pick<StreamClient, 'state'>, key: string): Promise<void> {
      if (!store || key === written) return
      const state = await streamClient.state()
      // A stream that reads blocks and has no cursor yet would replace a better checkpoint.
      if (!state || (start !== undefined && !state.cursor)) return
      try {
        await store.write({ ...checkpointOf(state), stream })
      } catch (error) {
        return raise('the checkpoint of a stream could not be written', error)
      }
      written = key
      writtenAt = Date.now()
      alarms.delete('checkpoint')
    },
    /** ms since the epoch. */
    get writtenAt(): number | undefined {
      return writtenAt
    },
  }
}
