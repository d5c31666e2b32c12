import type { Chain } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream-checkpoint.ts'
import type { StreamConfig } from '../../../domain/stream.ts'
import type { Logger } from '../../../observability/logger.ts'
import type { StreamInput } from '../../../temporal/stream.ts'
import type { CheckpointKeeper } from '../checkpoint-keeper.ts'

export interface ScannedBeginOptions {
  readonly config: StreamConfig
  readonly sourceChain: Pick<Chain, 'denies'>
  readonly keeper: Pick<CheckpointKeeper, 'read' | 'complain'>
  readonly logger: Logger
}

/** How the stream of a scanned source begins with its checkpoint: only if the source still has the block of its cursor. */
export interface ScannedBegin {
  /** What a stream that is not there begins with. Throws what the source's nodes throw. */
  begin(): Promise<StreamInput>
  /** The checkpoint that the stream began with, if the source denies its block by now: what it says is worthless. */
  denied(): Promise<StreamCheckpoint | undefined>
}

export function createScannedBegin({ config, sourceChain, keeper, logger }: ScannedBeginOptions): ScannedBegin {
  const { stream } = config
  let begun: StreamCheckpoint | undefined

  return {
    async begin() {
      begun = undefined
      const found = await keeper.read()
      if (!found) return { config }
      const { cursor, completedNumber, completedHeight } = found
      if (cursor && (await sourceChain.denies(cursor))) {
        keeper.complain(
          new RelayerError('CHECKPOINT_INVALID', { detail: `The source denies its block ${cursor.height}.`, facts: { stream } }),
        )
        return { config }
      }
      begun = found
      logger.info('a stream begins with its checkpoint', { stream, completedNumber, completedHeight })
      return { config, checkpoint: found }
    },
    async denied() {
      const { cursor } = begun ?? {}
      const worthless = cursor && (await sourceChain.denies(cursor)) ? begun : undefined
      begun = undefined
      return worthless
    },
  }
}
