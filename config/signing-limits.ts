import type { ChainConfig, LaneSettings } from './schema/schema.ts'

/** What a key of a chain signs for at most: the chain's limits, and what the lane sets instead. Numbers as decimal strings. */
export function signingLimits({ signing: ofChain }: Pick<ChainConfig, 'signing'>, { signing: ofLane }: Pick<LaneSettings, 'signing'> = {}) {
  const limits = { ...ofChain, ...ofLane }
  return { ...limits, maxGasPerTransaction: String(limits.maxGasPerTransaction) }
}
