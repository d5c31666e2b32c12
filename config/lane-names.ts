import type { OrderSubject } from '../domain/access.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { LaneId } from '../domain/lane/lane.ts'
import { isShort, isShortFor } from '../domain/text/short-id.ts'
import { lanesOf } from './chains.ts'
import type { Config } from './schema/schema.ts'

/** The lane of a lane id or of a configured address, in full or shortened as in lists. Throws LANE_NOT_FOUND. */
export function resolveLane(config: Pick<Config, 'chains'>, name: string, chain?: string): LaneId {
  if (/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i.test(name)) return name.toLowerCase()
  const isNamed = (whole: string) => (isShort(name) ? isShortFor(name, whole) : whole === name.toLowerCase())
  const named = lanesOf(config).filter(({ id, lane }) => isNamed(lane.address) || isNamed(id))
  return theOnlyLane(
    named.filter((row) => chain === undefined || row.chain === chain).map(({ id }) => id),
    { lane: name, chain },
  )
}

/** The lane that a name matches. Throws LANE_NOT_FOUND for no match or several. */
export function theOnlyLane(lanes: readonly LaneId[], about: { readonly lane: string; readonly chain: string | undefined }): LaneId {
  const [one, ...more] = new Set(lanes)
  if (one !== undefined && more.length === 0) return one
  const detail = one === undefined ? undefined : `Several lanes have this name: ${[one, ...more].join(', ')}.`
  throw new RelayerError('LANE_NOT_FOUND', { detail, facts: about })
}

export function aboutLane(config: Pick<Config, 'chains'>, lane: LaneId): OrderSubject {
  const chain = lanesOf(config).find(({ id }) => id === lane)?.chain
  return { lane, chains: chain === undefined ? undefined : [chain] }
}
