import type { ScannedSource } from '../../../bridges/port.ts'
import type { Chain } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'
import type { ScannedDeps } from './context.ts'
import type { CheckpointKeeper } from '../checkpoints.ts'

type BootstrapDeps = Pick<ScannedDeps, 'logger'> & {
  readonly source: Pick<ScannedSource, 'config' | 'highest'>
  readonly sourceChain: Pick<Chain, 'denies'>
}

/** Uses a checkpoint only if the source has its block and number. A watermark above them would skip transfers. */
export function createScannedBootstrap(
  { source, sourceChain, logger }: BootstrapDeps,
  keeper: Pick<CheckpointKeeper, 'read' | 'complain'>,
) {
  const { config } = source
  const { stream } = config
  let begun: StreamCheckpoint | undefined

  function refuse(detail: string): StreamInput {
    keeper.complain(new RelayerError('CHECKPOINT_INVALID', { detail, facts: { stream } }))
    return { config }
  }

  return {
    async begin(): Promise<StreamInput> {
      begun = undefined
      // Without a checkpoint more blocks are read, but no transfer is lost.
      const found = await keeper.read().catch(() => undefined)
      if (!found) return { config }
      const { cursor, completedNumber: number, completedHeight: height } = found
      if (!cursor) return refuse('cursor: there is no block to ask the source for.')
      if (await sourceChain.denies(cursor)) return refuse(`The source denies its block ${cursor.height}.`)
      const highest = number === undefined ? undefined : ((await source.highest(number)) ?? '0')
      if (number !== undefined && highest !== undefined && BigInt(number) > BigInt(highest)) {
        const input = refuse(`completedNumber: it is ${number}, and the source's highest is ${highest}.`)
        return { ...input, distrusted: { number, ...(height !== undefined && { height }), by: 'checkpoint' } }
      }
      begun = found
      logger.info('a stream begins with its checkpoint', { stream, completedNumber: number, completedHeight: height })
      return { config, checkpoint: found }
    },
    async denied(): Promise<StreamCheckpoint | undefined> {
      const { cursor } = begun ?? {}
      const worthless = cursor && (await sourceChain.denies(cursor)) ? begun : undefined
      begun = undefined
      return worthless
    },
  }
}
