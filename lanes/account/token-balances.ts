import { laneAddress } from '../../domain/lane/lane.ts'
import type { TokenReading } from '../../domain/lane/tokens.ts'
import { problemOf } from '../../observability/severity.ts'
import type { LaneDeps } from '../deps.ts'

const everyBlocks = 10

/** Reads the watched tokens of a lane together, which takes one request per node. Returns the unsubscribe. */
export function watchTokens({ chain, config, logger, tokens = [] }: LaneDeps, seen: Map<string, TokenReading>): () => void {
  if (tokens.length === 0) return () => {}
  let readAt: number | undefined
  const read = async (height: number) => {
    if (readAt !== undefined && Math.abs(height - readAt) < everyBlocks) return
    readAt = height
    const reads = tokens.map(async (one) =>
      seen.set(one.token, { ...one, balance: await chain.balanceOf(laneAddress(config.lane), one.token) }),
    )
    const failed = (await Promise.allSettled(reads)).find((one) => one.status === 'rejected')
    if (failed) logger.warn('the tokens of the lane could not all be read', problemOf(failed.reason))
  }
  return chain.heads.subscribe(({ latest }) => void read(latest.height))
}
