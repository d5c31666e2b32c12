import type { SignedSource } from '../../../bridges/source-port.ts'
import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'

/** Without a first number in the config and without a checkpoint, at least so many numbers below the present one are looked after as well. */
const below = 1_000n

/**
 * What the stream of an emitter begins with: the first number of the config; else all above a checkpoint's watermark; else the first number of the days that
 * are looked back (`streams.lookBackDays`), and at least the latest thousand. A checkpoint above what the source has given out is one of another network.
 * Throws what reads throw, and CHECKPOINT_UNAVAILABLE where the config names no first number: what is older would be missed for good.
 * @param onProblem called with the reason why a checkpoint cannot be used
 * @param lookBack the first number of those days; undefined: none
 */
export async function bootstrapSigned(
  source: Pick<SignedSource, 'config' | 'begins' | 'highest'>,
  readCheckpoint: () => Promise<StreamCheckpoint | undefined>,
  onProblem: (error: unknown) => void,
  lookBack: () => Promise<string | undefined>,
): Promise<StreamInput> {
  const { config, begins } = source
  const highest = await source.highest()
  const checkpoint = await readCheckpoint().catch((error: unknown) => {
    if (begins.first === undefined && toRelayerError(error).code === 'CHECKPOINT_UNAVAILABLE') throw error
    onProblem(error)
    return undefined
  })
  const trusted = checkpoint && isOf(checkpoint, highest) ? checkpoint : undefined
  if (checkpoint && !trusted) {
    const detail = `It speaks of number ${checkpoint.completedNumber}, and the source's highest is ${highest ?? 'none'}.`
    onProblem(new RelayerError('CHECKPOINT_INVALID', { detail, facts: { stream: config.stream } }))
  }
  const number = trusted ? undefined : checkpoint?.completedNumber
  const kept = { ...(trusted && { checkpoint: trusted }), ...(number !== undefined && { distrusted: { number, by: 'checkpoint' } }) }
  if (begins.first !== undefined || trusted?.completedNumber !== undefined) return { config, ...kept }
  const next = highest === undefined ? 0n : BigInt(highest) + 1n
  const latest = next > below ? next - below : 0n
  const found = latest === 0n ? undefined : await lookBack()
  return { config: { ...config, first: String(found !== undefined && BigInt(found) < latest ? found : latest) }, ...kept }
}

function isOf({ completedNumber }: StreamCheckpoint, highest: string | undefined): boolean {
  return completedNumber === undefined || (highest !== undefined && BigInt(completedNumber) <= BigInt(highest))
}
