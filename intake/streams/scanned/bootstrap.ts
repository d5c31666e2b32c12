import type { Chain } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import type { StreamConfig } from '../../../domain/stream/stream.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'
import type { ScannedDeps } from './context.ts'
import type { CheckpointKeeper } from '../checkpoints.ts'
import type { BlockSource } from './placed.ts'

type BootstrapDeps = Pick<ScannedDeps, 'logger'> & {
  readonly source: Pick<BlockSource, 'config' | 'highest'>
  readonly sourceChain: Pick<Chain, 'denies'>
}

/**
 * Begins a stream, with its checkpoint if the source has the checkpoint's block and number. A false watermark would
 * skip transfers.
 * @param lookBack returns the first block of a stream whose config has none
 */
export function createScannedBootstrap(
  { source, sourceChain, logger }: BootstrapDeps,
  keeper: Pick<CheckpointKeeper, 'read' | 'complain'>,
  lookBack?: () => Promise<number>,
) {
  const { config } = source
  const { stream } = config
  let begun: StreamCheckpoint | undefined

  async function begins({ completedHeight }: Partial<StreamCheckpoint> = {}): Promise<StreamConfig> {
    if (!lookBack) return config
    const start = await lookBack()
    return { ...config, start: completedHeight === undefined ? start : Math.min(start, completedHeight + 1) }
  }

  async function refuse(detail: string): Promise<StreamInput> {
    keeper.complain(new RelayerError('CHECKPOINT_INVALID', { detail, facts: { stream } }))
    return { config: await begins() }
  }

  return {
    /** Throws read errors. If the config has no first block, also throws CHECKPOINT_UNAVAILABLE. */
    async begin(): Promise<StreamInput> {
      begun = undefined
      // With a first block in the config, a stream without its checkpoint reads more blocks but loses no transfer.
      const found = await (lookBack ? keeper.read() : keeper.read().catch(() => undefined))
      if (!found) return { config: await begins() }
      const { cursor, completedNumber: number, completedHeight: height } = found
      if (!cursor) return refuse('cursor: there is no block to ask the source for.')
      if (await sourceChain.denies(cursor)) return refuse(`The source denies its block ${cursor.height}.`)
      const highest = number === undefined ? undefined : ((await source.highest(number)) ?? '0')
      if (number !== undefined && highest !== undefined && BigInt(number) > BigInt(highest)) {
        const input = await refuse(`completedNumber: it is ${number}, and the source's highest is ${highest}.`)
        return { ...input, distrusted: { number, ...(height !== undefined && { height }), by: 'checkpoint' } }
      }
      const input = { config: await begins(found), checkpoint: found }
      begun = found
      logger.info('a stream begins with its checkpoint', { stream, completedNumber: number, completedHeight: height })
      return input
    },
    async denied(): Promise<StreamCheckpoint | undefined> {
      const { cursor } = begun ?? {}
      const worthless = cursor && (await sourceChain.denies(cursor)) ? begun : undefined
      begun = undefined
      return worthless
    },
  }
}
