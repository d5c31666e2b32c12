import { portageItself } from '../../../domain/order.ts'
import type { BlockRef } from '../../../domain/finality.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { finalizedOf, type ReadingContext } from './context.ts'

/**
 * Reads again from the newest known block that most nodes have. Does nothing if this block is the cursor.
 * @param isBelow if true, always reads again, from below the first number that the source no longer counts
 */
export async function goBack(context: ReadingContext, isBelow = false): Promise<void> {
  const { streamClient, cache, source, logger } = context
  const state = await streamClient.state()
  const { cursor } = state ?? {}
  if (!state || !cursor) return
  const isThere = await has(context, cursor)
  if (isThere && !isBelow) return
  const limit = isBelow ? Math.min(cursor.height, vanishedAt(state) ?? cursor.height) : cursor.height
  const known = cache.blocks.filter(({ height }) => height < limit)
  const block = (await firstKept(context, known)) ?? (await below(context, isThere ? limit : (state.config.start ?? 0)))
  if (!block) return
  const facts = { stream: source.config.stream, cursor: cursor.height, from: block.height + 1 }
  logger.error('the source was reorganised below finality, or its nodes contradict themselves', { code: 'SOURCE_FORKED', ...facts })
  await reread(context, block)
}

function vanishedAt({ vanished, marks }: StreamState): number | undefined {
  return vanished && marks.find(([number]) => BigInt(number) > BigInt(vanished.upTo))?.[1]
}

export async function rereadBelow(context: ReadingContext, height: number): Promise<void> {
  const block = await below(context, height)
  if (!block) return
  const facts = { stream: context.source.config.stream, from: block.height + 1 }
  context.logger.error('the source denies the block of a checkpoint, which is no longer trusted', { code: 'CHECKPOINT_DENIED', ...facts })
  await reread(context, block)
}

async function reread({ cache, streamClient }: ReadingContext, block: BlockRef): Promise<void> {
  cache.forget(block.height)
  await streamClient.apply([{ kind: 'reread', block, order: { by: portageItself, reason: 'a fork below finality' } }])
}

/**
 * The first of the blocks that most nodes have. A chain's only node is asked once about each block, and again only
 * about this one, because asking it twice takes as long as a block.
 */
async function firstKept(context: ReadingContext, blocks: readonly BlockRef[]): Promise<BlockRef | undefined> {
  for (const block of blocks) {
    const seen = await context.sourceChain.block(block.height, 'majority')
    if (seen?.hash === block.hash && (await has(context, block))) return block
  }
  return undefined
}

async function has({ sourceChain }: ReadingContext, { height, hash }: BlockRef): Promise<boolean> {
  return (await sourceChain.block(height, 'agreed'))?.hash === hash
}

async function below({ sourceChain }: ReadingContext, height: number): Promise<BlockRef | undefined> {
  const block = await sourceChain.block(Math.min(Math.max(0, height - 1), finalizedOf(sourceChain)), 'agreed')
  return block && { height: block.height, hash: block.hash }
}
