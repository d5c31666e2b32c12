import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import type { SignedSource } from '../../../bridges/source-port.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'
import type { SignedDeps } from './deps.ts'

/** A message whose block is older does not begin a stream, s: anybody may repeat an old one, and all numbers above it would have to be fetched. */
const freshSeconds = 3_600

/** In place of the chain of a source without a node: it never has a head. */
export function chainWithoutNode(name: ChainName): SignedDeps['chain'] {
  return { name, block: async () => undefined, heads: { current: undefined, subscribe: () => () => {} } }
}

/** Whether this message, whose signatures are good, may be the first of a stream that has not begun. */
export function mayBegin(vaa: Uint8Array, now = Date.now()): boolean {
  return parseVaa(vaa).timestamp >= now / 1_000 - freshSeconds
}

/**
 * What the stream of a source without a node begins with: the first number of the config; else all above a checkpoint's watermark, which nothing can be
 * compared with; else the first number that was heard. Throws CHECKPOINT_UNAVAILABLE where the config names no first number, and STREAM_NOT_FOUND before
 * a message was heard.
 * @param onProblem called with the reason why a checkpoint cannot be used
 * @param heard the lowest number that was heard and waits to be recorded
 */
export async function bootstrapWithoutNode(
  { config, begins }: Pick<SignedSource, 'config' | 'begins'>,
  readCheckpoint: () => Promise<StreamCheckpoint | undefined>,
  onProblem: (error: unknown) => void,
  heard: () => string | undefined,
): Promise<StreamInput> {
  const checkpoint = await readCheckpoint().catch((error: unknown) => {
    if (begins.first === undefined && toRelayerError(error).code === 'CHECKPOINT_UNAVAILABLE') throw error
    onProblem(error)
    return undefined
  })
  const kept = checkpoint && { checkpoint }
  if (begins.first !== undefined || checkpoint?.completedNumber !== undefined) return { config, ...kept }
  const first = heard()
  if (first === undefined)
    throw new RelayerError('STREAM_NOT_FOUND', { detail: 'None of its messages was heard yet.', facts: { stream: config.stream } })
  return { config: { ...config, first }, ...kept }
}

/** The number at which it begins though nothing was heard yet: that of the config, or the one above a checkpoint's watermark. */
export async function firstWithoutNode(
  { begins }: Pick<SignedSource, 'begins'>,
  keeper: { read(): Promise<StreamCheckpoint | undefined> },
): Promise<string | undefined> {
  if (begins.first !== undefined) return begins.first
  const { completedNumber } = (await keeper.read().catch(() => undefined)) ?? {}
  return completedNumber === undefined ? undefined : String(BigInt(completedNumber) + 1n)
}
