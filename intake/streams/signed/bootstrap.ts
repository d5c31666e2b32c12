import type { SignedSource } from '../../../bridges/port.ts'
import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import type { StreamInput } from '../../../temporal/contracts/stream.ts'
import type { CheckpointKeeper } from '../checkpoints.ts'
import type { SignedDeps } from './deps.ts'

/** A stream without a first number and without a checkpoint begins at least this far below the highest number. */
const below = 1_000n
/**
 * Maximum age of a message that begins a stream without a node. An old message that a spy repeats would open many gaps.
 */
const freshSeconds = 3_600

type Keeper = Pick<CheckpointKeeper, 'read' | 'complain'>

/**
 * Begins a stream, with its checkpoint if the source has the checkpoint's number. Without a first number in the config
 * and a number in the checkpoint, the stream begins at the number of `lookBack`, or lower (`below`). Throws read
 * errors. Without a first number in the config, also throws CHECKPOINT_UNAVAILABLE, because older numbers would be
 * missed for good.
 */
export async function bootstrapSigned(
  source: Pick<SignedSource, 'config' | 'begins' | 'highest'>,
  keeper: Keeper,
  lookBack: () => Promise<string | undefined>,
): Promise<StreamInput> {
  const { config, begins } = source
  const highest = await source.highest()
  const checkpoint = await readCheckpoint(source, keeper)
  const trusted = checkpoint && isOf(checkpoint, highest) ? checkpoint : undefined
  if (checkpoint && !trusted) {
    const detail = `completedNumber: it is ${checkpoint.completedNumber}, and the source's highest is ${highest ?? 'none'}.`
    keeper.complain(new RelayerError('CHECKPOINT_INVALID', { detail, facts: { stream: config.stream } }))
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

async function readCheckpoint({ begins }: Pick<SignedSource, 'begins'>, keeper: Keeper): Promise<StreamCheckpoint | undefined> {
  return keeper.read().catch((error: unknown) => {
    if (begins.first === undefined && toRelayerError(error).code === 'CHECKPOINT_UNAVAILABLE') throw error
    keeper.complain(error)
    return undefined
  })
}

/** Throws CHECKPOINT_UNAVAILABLE and STREAM_NOT_FOUND. */
export async function bootstrapWithoutNode(
  source: Pick<SignedSource, 'config' | 'begins'>,
  keeper: Keeper,
  received: () => string | undefined,
): Promise<StreamInput> {
  const { config, begins } = source
  const checkpoint = await readCheckpoint(source, keeper)
  const kept = checkpoint && { checkpoint }
  if (begins.first !== undefined || checkpoint?.completedNumber !== undefined) return { config, ...kept }
  const first = received()
  if (first === undefined)
    throw new RelayerError('STREAM_NOT_FOUND', {
      detail: 'No message of this source has been received yet.',
      facts: { stream: config.stream },
    })
  return { config: { ...config, first }, ...kept }
}

export async function firstWithoutNode({ begins }: Pick<SignedSource, 'begins'>, keeper: Keeper): Promise<string | undefined> {
  if (begins.first !== undefined) return begins.first
  const { completedNumber } = (await keeper.read().catch(() => undefined)) ?? {}
  return completedNumber === undefined ? undefined : String(BigInt(completedNumber) + 1n)
}

export function mayBegin(vaa: Uint8Array, now = Date.now()): boolean {
  return parseVaa(vaa).timestamp >= now / 1_000 - freshSeconds
}

export function chainWithoutNode(name: ChainName): SignedDeps['chain'] {
  return { name, block: async () => undefined, heads: { current: undefined, subscribe: () => () => {} } }
}
