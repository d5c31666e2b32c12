import type { Chain } from '../../chains/port.ts'
import { toRelayerError } from '../../domain/errors.ts'
import { checkpointOf } from '../../domain/stream-checkpoint.ts'
import type { StreamCheckpoint } from '../../domain/stream-checkpoint.ts'
import type { StreamConfig } from '../../domain/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { StreamInput } from '../../temporal/stream.ts'
import type { CheckpointStore } from './checkpoints.ts'
import type { AgentAlarm } from './report.ts'
import type { StreamClient } from './stream-client.ts'

export interface CheckpointingOptions {
  readonly config: StreamConfig
  readonly sourceChain: Pick<Chain, 'denies'>
  /** Absent: none is kept. */
  readonly store: CheckpointStore | undefined
  readonly alarms: Set<AgentAlarm>
  readonly logger: Logger
}

/** The checkpoint of one stream, as one process begins with it and keeps it. */
export interface Checkpointing {
  /** What a stream that is not there begins with. Never throws for what is kept: without it, more is read. Throws what the source's nodes throw. */
  begin(): Promise<StreamInput>
  /** The checkpoint that the stream began with, if the source denies its block by now: what it says is worthless. */
  denied(): Promise<StreamCheckpoint | undefined>
  /** Writes what has changed. */
  keep(line: StreamClient): Promise<void>
  /** When it was last written, ms since the epoch. */
  readonly writtenAt: number | undefined
}

export function createCheckpointing({ config, sourceChain, store, alarms, logger }: CheckpointingOptions): Checkpointing {
  const { stream } = config
  let begun: StreamCheckpoint | undefined
  let written: string | undefined
  let writtenAt: number | undefined

  function complain(text: string, error: unknown): void {
    if (!alarms.has('checkpoint')) logger.error(text, { stream, error: toRelayerError(error).message })
    alarms.add('checkpoint')
  }

  async function read(): Promise<StreamCheckpoint | undefined> {
    try {
      return await store?.read(stream)
    } catch (error) {
      complain('the checkpoint of a stream is of no use; it begins without, and reads more blocks', error)
      return undefined
    }
  }

  return {
    async begin() {
      const found = await read()
      begun = undefined
      if (found?.cursor && (await sourceChain.denies(found.cursor))) {
        complain('the source denies the block of a checkpoint; the stream begins without it', `block ${found.cursor.height}`)
        return { config }
      }
      begun = found
      if (!found) return { config }
      const { completedNumber, completedHeight } = found
      logger.info('a stream begins with its checkpoint', { stream, completedNumber, completedHeight })
      return { config, checkpoint: found }
    },
    async denied() {
      const { cursor } = begun ?? {}
      const worthless = cursor && (await sourceChain.denies(cursor)) ? begun : undefined
      begun = undefined
      return worthless
    },
    async keep(line) {
      const { nextHeight, completedNumber, completedHeight, counts } = line.view ?? {}
      const now = JSON.stringify([nextHeight, completedNumber, completedHeight, counts])
      // One without a cursor would take the place of a better one.
      if (!store || now === written || nextHeight === undefined) return
      const state = await line.state()
      if (!state?.cursor) return
      try {
        await store.write(checkpointOf(state))
      } catch (error) {
        return complain('the checkpoint of a stream could not be written', error)
      }
      written = now
      writtenAt = Date.now()
      alarms.delete('checkpoint')
    },
    get writtenAt() {
      return writtenAt
    },
  }
}
